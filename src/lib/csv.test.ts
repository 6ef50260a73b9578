import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv, type CsvRecord } from './csv.ts'

async function read(text: string | Uint8Array, chunkSize = 7): Promise<CsvRecord[]> {
  const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize)
  }
  const records: CsvRecord[] = []
  for await (const group of readCsv(chunks())) records.push(...group)
  return records
}

describe('CSV', () => {
  test('cells, line numbers, blank lines, both line endings and a last line without end', async () => {
    expect(await read('a,b\r\n\r\n1,\n  \n,2')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['1', ''] },
      { line: 5, cells: ['', '2'] },
    ])
  })

  test('quotes hold separators, quotes and line breaks, which count as lines', async () => {
    expect(await read('"a,b","say ""hi""\nthere",c\nd,e,f\n"",x,')).toEqual([
      { line: 1, cells: ['a,b', 'say "hi"\nthere', 'c'] },
      { line: 3, cells: ['d', 'e', 'f'] },
      { line: 4, cells: ['', 'x', ''] },
    ])
  })

  test('semicolons when the first line has more of them, and a byte order mark is no text', async () => {
    expect(await read('\ufefffield;value\nphone;1,5')).toEqual([
      { line: 1, cells: ['field', 'value'] },
      { line: 2, cells: ['phone', '1,5'] },
    ])
  })

  test('a record with text after a quote is reported and the next one is read', async () => {
    expect(await read('a,b\n"x"y,1\nc,d\n')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, problem: 'a quote is left open or followed by text' },
      { line: 3, cells: ['c', 'd'] },
    ])
  })

  test('a quote that is never closed is reported once, and costs the lines it swallowed at most', async () => {
    const records = await read(`a,b\n"x,1\n${'c,d\n'.repeat(50_000)}`, 4096)
    expect(records[0]).toEqual({ line: 1, cells: ['a', 'b'] })
    expect(records[1]).toMatchObject({ line: 2, problem: expect.stringContaining('longer than') as string })
    expect(records.filter((record) => 'problem' in record)).toHaveLength(1)
    expect(records.at(-1)).toEqual({ line: 50_002, cells: ['c', 'd'] })
    expect(records.length).toBeGreaterThan(30_000)
  })

  test('whatever is written is read again, however it is cut into chunks', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'é', '😀', ',', '"', '\n', '\r', ' ', ';'),
      maxLength: 6,
    })
    const row = fc.array(cell, { minLength: 2, maxLength: 4 }).filter((cells) => cells.join('').trim() !== '')
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, chunkSize) => {
          const quoted = rows.map((cells) => cells.map((each) => `"${each.replaceAll('"', '""')}"`).join(','))
          const records = await read(['h,h,h,h,h,h,h', ...quoted].join('\n'), chunkSize)
          expect(
            records.slice(1).map((record) => ('cells' in record ? record.cells : record.problem)),
          ).toEqual(rows)
        },
      ),
    )
  })
})
