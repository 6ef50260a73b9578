/** CSV for spreadsheets: quoted where needed, and no cell that a spreadsheet would take for a formula. */
export type Cell = string | number | Date | null | undefined

export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return ''
  const text = value instanceof Date ? value.toISOString() : String(value)
  // A cell that begins like this is run as a formula when the file is opened.
  const safe =
    typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d[\d.,]*$/.test(text)
      ? `'${text}`
      : text
  return /[",\r\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`
