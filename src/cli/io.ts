/** Where a command writes, and in which form: tables for people, JSON for programs, colours only on a terminal. */
import { createInterface } from 'node:readline/promises'

export type Io = {
  out(text: string): void
  err(text: string): void
  /** Is a person looking at the output? */
  isTerminal: boolean
  /** All of the standard input. */
  readInput(): Promise<string>
  /** Asks the person at the terminal; absent when there is none. */
  ask?(question: string): Promise<string>
}

const maxInputBytes = 16 * 1024 * 1024

export const processIo: Io = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
  isTerminal: process.stdout.isTTY,
  async readInput() {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxInputBytes) throw new Error('The standard input holds more than 16 MiB.')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  },
  ...(process.stdin.isTTY && process.stdout.isTTY && { ask }),
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

export const bold = (io: Io, text: string): string => (io.isTerminal ? `\u001b[1m${text}\u001b[0m` : text)
export const coloured = (io: Io, colour: 'green' | 'yellow' | 'red', text: string): string => {
  const code = { green: 32, yellow: 33, red: 31 }[colour]
  return io.isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text
}
export const dim = (io: Io, text: string): string => (io.isTerminal ? `\u001b[2m${text}\u001b[0m` : text)

type Shown = Record<string, unknown>

const cell = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '-'
  if (value instanceof Date) return value.toISOString().slice(0, 19).replace('T', ' ')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length > 0 ? value.join(',') : '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Control characters in stored names must not reach a terminal. */
// oxlint-disable-next-line no-control-regex -- keeping them out is what it is for
export const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?')

export const printJson = (io: Io, value: unknown): void => io.out(JSON.stringify(value, null, 2))

/** One row per thing, the columns in the order of the first one's fields. */
export function printList(io: Io, isJson: boolean, rows: readonly Shown[]): void {
  if (isJson) return printJson(io, rows)
  const [first] = rows
  if (first === undefined) return io.out(dim(io, 'None yet.'))
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => printable(cell(row[name]))))
  const widths = names.map((name, at) => Math.max(name.length, ...cells.map((line) => line[at]!.length)))
  const line = (texts: string[]) =>
    texts
      .map((text, at) => text.padEnd(widths[at]!))
      .join('  ')
      .trimEnd()
  io.out(bold(io, line(names)))
  for (const texts of cells) io.out(line(texts))
}

/** One thing, a line per field. */
export function printThing(io: Io, isJson: boolean, thing: Shown): void {
  if (isJson) return printJson(io, thing)
  const width = Math.max(...Object.keys(thing).map((name) => name.length))
  for (const [name, value] of Object.entries(thing))
    io.out(`${bold(io, name.padEnd(width))}  ${printable(cell(value))}`)
}
