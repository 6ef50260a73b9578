/** Looks into a CSV file before it is sent, by the very reader that the server uses. */
import { columnNamed, type ContactColumn } from '../../../../src/domain/contact-columns.ts'
import { readCsv } from '../../../../src/lib/csv.ts'

export type CsvColumn = { header: string; samples: string[]; meaning: ContactColumn | '' }

export type CsvLook =
  | { ok: true; columns: CsvColumn[]; isUtf8: boolean; bodyLine: number; separator: ',' | ';' }
  | { ok: false; reason: 'empty' | 'spreadsheet' }

/** Enough for any header and some lines. */
const lookBytes = 64 * 1024
const sampleLines = 3

export async function lookInto(file: Blob): Promise<CsvLook> {
  const bytes = new Uint8Array(await file.slice(0, lookBytes).arrayBuffer())
  // A spreadsheet is a ZIP file, an old one begins with these two.
  if ((bytes[0] === 0x50 && bytes[1] === 0x4b) || (bytes[0] === 0xd0 && bytes[1] === 0xcf))
    return { ok: false, reason: 'spreadsheet' }
  const records = []
  // The last line may be cut off where the look ends, and is not shown then.
  for await (const group of readCsv(once(wholeLines(bytes, file.size)))) records.push(...group)
  const [first, ...rest] = records
  if (first === undefined || !('cells' in first)) return { ok: false, reason: 'empty' }
  const samples = rest.flatMap((record) => ('cells' in record ? [record.cells] : [])).slice(0, sampleLines)
  const taken = new Set<ContactColumn>()
  const columns = first.cells.map((header, place): CsvColumn => {
    const named = columnNamed(header)
    const meaning = named !== undefined && !taken.has(named) ? named : ''
    if (meaning !== '') taken.add(meaning)
    return {
      header: header.trim(),
      meaning,
      samples: samples.map((cells) => cells[place]?.trim() ?? '').filter((cell) => cell !== ''),
    }
  })
  const head = new TextDecoder().decode(bytes)
  const firstLine = head.split('\n')[0] ?? ''
  return {
    ok: true,
    columns,
    isUtf8: isUtf8(bytes),
    bodyLine: rest[0]?.line ?? 0,
    separator: firstLine.split(';').length > firstLine.split(',').length ? ';' : ',',
  }
}

/** What is cut off at the end of the look is no fault. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const lineFeed = 0x0a

function wholeLines(bytes: Uint8Array, size: number): Uint8Array {
  const end = bytes.lastIndexOf(lineFeed)
  return size <= bytes.length || end < 0 ? bytes : bytes.subarray(0, end + 1)
}

/**
 * The same file under a first line of our own, for columns that were given another meaning. Lines keep their numbers,
 * so that a line that is not taken is found again.
 */
export async function withMeanings(
  file: Blob,
  look: CsvLook & { ok: true },
  meanings: readonly (ContactColumn | '')[],
): Promise<Blob> {
  if (look.columns.every(({ meaning }, place) => meaning === meanings[place])) return file
  const names = meanings.map((meaning) => meaning || 'left_out')
  const header = names.join(look.separator) + '\n'.repeat(Math.max(1, look.bodyLine - 1))
  if (look.bodyLine === 0) return new Blob([header])
  const bytes = new Uint8Array(await file.slice(0, lookBytes).arrayBuffer())
  let from = 0
  for (let line = 1; line < look.bodyLine; line++) from = bytes.indexOf(lineFeed, from) + 1
  return new Blob([header, file.slice(from)])
}

export type MappingProblem = { kind: 'no_address' } | { kind: 'twice'; column: ContactColumn }

export function findProblem(meanings: readonly (ContactColumn | '')[]): MappingProblem | undefined {
  const given = meanings.filter((meaning) => meaning !== '')
  const twice = given.find((meaning, place) => given.indexOf(meaning) !== place)
  if (twice !== undefined) return { kind: 'twice', column: twice }
  return given.includes('phone') || given.includes('email') ? undefined : { kind: 'no_address' }
}
