import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

export type Line = Record<string, unknown>

export type LineReader = {
  all: Line[]
  /** The first line, past or to come, that fits; fails when the process ends without it. */
  find(fits: (line: Line) => boolean): Promise<Line>
}

/** Reads what a process writes as JSON, one object a line; everything else it says is kept under `text`. */
export function readLines(child: ChildProcess): LineReader {
  const all: Line[] = []
  const waiting = new Set<{
    fits: (line: Line) => boolean
    resolve: (line: Line) => void
    reject: (error: Error) => void
  }>()
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('the process was started without pipes')
  const take = (text: string) => {
    const line = parse(text)
    all.push(line)
    for (const waiter of waiting) {
      if (!waiter.fits(line)) continue
      waiting.delete(waiter)
      waiter.resolve(line)
    }
  }
  createInterface({ input: stdout }).on('line', take)
  createInterface({ input: stderr }).on('line', take)
  child.once('close', (code, signal) => {
    for (const waiter of waiting)
      waiter.reject(new Error(`ended (${code ?? signal}) after: ${JSON.stringify(all.slice(-20))}`))
    waiting.clear()
  })
  return {
    all,
    find: (fits) =>
      new Promise((resolve, reject) => {
        const past = all.find(fits)
        if (past) resolve(past)
        else if (child.exitCode !== null || child.signalCode !== null) {
          reject(new Error(`has ended after: ${JSON.stringify(all.slice(-20))}`))
        } else waiting.add({ fits, resolve, reject })
      }),
  }
}

function parse(text: string): Line {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : { text }
  } catch {
    return { text }
  }
}
