/** Rows of the result: a ratio over interleaved pairs, with its spread, gate and goal. */
export type Row = {
  name: string
  /** What is compared, in words. */
  detail: string
  ratios: number[]
  median: number
  gate?: number
  goal?: number
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const ratioRow = (row: Omit<Row, 'median'>): Row => ({ ...row, median: median(row.ratios) })

export function printTable(rows: readonly Row[]): void {
  console.log()
  for (const { name, detail, ratios, median: middle, gate, goal } of rows) {
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
    const isMet = gate === undefined || middle >= gate
    console.log(
      `${isMet ? 'ok  ' : 'FAIL'} ${name.padEnd(36)} ${middle.toFixed(2)} (${spread}, gate ${gate ?? '–'}, goal ${goal ?? '–'})`,
    )
    console.log(`     ${detail}`)
  }
}

/** One line that is written over on a terminal, and printed line by line elsewhere. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
  else process.stderr.write(`${text}\n`)
}
