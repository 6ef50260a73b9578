/**
 * Reads CSV as spreadsheets write it, of any size: quotes, line breaks inside quotes, either line ending, a byte
 * order mark, commas or semicolons (whichever the first line has more of). A bad record never stops the others.
 */
export type CsvRecord =
  | { line: number; cells: string[] }
  /** What was skipped, from `line` on. */
  | { line: number; problem: string }

export type CsvSource = AsyncIterable<Uint8Array>

const maxRecordLength = 64 * 1024

/** Records in groups, one per chunk read; blank lines are left out. `line` counts physical lines from 1. */
export async function* readCsv(source: CsvSource): AsyncGenerator<CsvRecord[]> {
  const decoder = new TextDecoder('utf-8')
  const reader = createReader()
  for await (const chunk of source) {
    const records = reader.push(decoder.decode(chunk, { stream: true }))
    if (records.length > 0) yield records
  }
  const last = [...reader.push(decoder.decode()), ...reader.end()]
  if (last.length > 0) yield last
}

function createReader() {
  let rest = ''
  let line = 1
  let separator: string | undefined
  /** In the middle of a record that is too long: what follows up to the end of its line is skipped. */
  let isSkipping = false

  const takeLines = (isLast: boolean): CsvRecord[] => {
    const records: CsvRecord[] = []
    let from = 0
    separator ??= findSeparator(rest, isLast)
    if (separator === undefined) return records
    for (;;) {
      const end = isSkipping ? rest.indexOf('\n', from) : endOfRecord(rest, from)
      if (end < 0) break
      if (isSkipping) isSkipping = false
      else addRecord(records, rest.slice(from, end), line, separator)
      line += countLines(rest, from, end + 1)
      from = end + 1
    }
    rest = rest.slice(from)
    if (rest.length > maxRecordLength && !isLast) {
      if (!isSkipping) records.push({ line, problem: tooLong })
      isSkipping = true
      line += countLines(rest, 0, rest.length)
      rest = ''
    }
    if (isLast && rest !== '' && !isSkipping) addRecord(records, rest, line, separator)
    return records
  }

  return {
    push(text: string): CsvRecord[] {
      rest += text
      return takeLines(false)
    },
    end: (): CsvRecord[] => takeLines(true),
  }
}

const tooLong = `the record is longer than ${maxRecordLength} characters (is a quote left open?)`

function findSeparator(text: string, isLast: boolean): string | undefined {
  const end = text.indexOf('\n')
  if (end < 0 && !isLast && text.length <= maxRecordLength) return undefined
  const first = end < 0 ? text : text.slice(0, end)
  return first.split(';').length > first.split(',').length ? ';' : ','
}

/** The line break that ends the record: one that is not between quotes. */
function endOfRecord(text: string, from: number): number {
  let end = text.indexOf('\n', from)
  let quote = text.indexOf('"', from)
  while (quote >= 0 && end >= 0 && quote < end) {
    const closing = text.indexOf('"', quote + 1)
    if (closing < 0) return -1
    if (end < closing) end = text.indexOf('\n', closing)
    quote = text.indexOf('"', closing + 1)
  }
  return end
}

function countLines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}

function addRecord(records: CsvRecord[], text: string, line: number, separator: string): void {
  const record = text.endsWith('\r') ? text.slice(0, -1) : text
  if (record.trim() === '') return
  if (record.length > maxRecordLength) records.push({ line, problem: tooLong })
  else if (!record.includes('"')) records.push({ line, cells: record.split(separator) })
  else {
    const cells = splitQuoted(record, separator)
    records.push(cells ? { line, cells } : { line, problem: 'a quote is left open or followed by text' })
  }
}

function splitQuoted(record: string, separator: string): string[] | undefined {
  const cells: string[] = []
  let at = 0
  for (;;) {
    let cell = ''
    if (record[at] === '"') {
      at++
      for (;;) {
        const closing = record.indexOf('"', at)
        if (closing < 0) return undefined
        cell += record.slice(at, closing)
        at = closing + 1
        if (record[at] !== '"') break
        cell += '"'
        at++
      }
      if (at < record.length && record[at] !== separator) return undefined
    } else {
      const end = record.indexOf(separator, at)
      cell = record.slice(at, end < 0 ? undefined : end)
      at += cell.length
    }
    cells.push(cell)
    if (at >= record.length) return cells
    at++
    if (at === record.length) return [...cells, '']
  }
}
