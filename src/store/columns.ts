/**
 * Rows as one array per column, in PostgreSQL's binary form: nothing is quoted here and nothing parsed there. Its
 * `unnest` makes rows of them again. (As JSON, reading them cost more than storing them.)
 */
import type { Parameter } from './statements.ts'

/** What the values of a column are cast to, and how one of them is written. */
export type Column = { type: string; oid: number; write(value: never): void }

/** One column for every field, in the order of the statement's parameters. */
export type Columns<Row> = { readonly [Field in keyof Row & string]: Column }

/** What is being written. It is copied when it is complete, and used again. */
let bytes = Buffer.alloc(64 * 1024)
/** The same bytes: its numbers are written without a call. */
let view = new DataView(bytes.buffer)
let end = 0

function reserve(size: number): void {
  if (end + size <= bytes.length) return
  const larger = Buffer.alloc(2 * (end + size))
  bytes.copy(larger, 0, 0, end)
  bytes = larger
  view = new DataView(bytes.buffer)
}

function writeInt32(value: number): void {
  reserve(4)
  view.setInt32(end, value)
  end += 4
}

function writeInt64(value: number): void {
  reserve(8)
  const high = Math.floor(value / 2 ** 32)
  view.setInt32(end, high)
  view.setUint32(end + 4, value - high * 2 ** 32)
  end += 8
}

function writeText(text: string): void {
  reserve(3 * text.length)
  end += bytes.write(text, end)
}

const digitOf = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) {
  const name = digit.toString(16)
  digitOf[name.charCodeAt(0)] = digit
  digitOf[name.toUpperCase().charCodeAt(0)] = digit
}
const dash = '-'.charCodeAt(0)

function writeUuid(text: string): void {
  reserve(16)
  for (let index = 0; index < 36; index += 2) {
    if (text.charCodeAt(index) === dash) index++
    bytes[end++] = (digitOf[text.charCodeAt(index)]! << 4) | digitOf[text.charCodeAt(index + 1)]!
  }
}

/** PostgreSQL counts microseconds from the year 2000 on. */
const epochMs = Date.UTC(2000, 0, 1)

export const uuids: Column = { type: 'uuid', oid: 2950, write: writeUuid }
export const numbers: Column = { type: 'bigint', oid: 20, write: writeInt64 }
export const texts: Column = { type: 'text', oid: 25, write: writeText }
export const instants: Column = {
  type: 'timestamptz',
  oid: 1184,
  write: (at: Date) => writeInt64((at.getTime() - epochMs) * 1000),
}
export const booleans: Column = {
  type: 'boolean',
  oid: 16,
  write(value: boolean) {
    reserve(1)
    bytes[end++] = value ? 1 : 0
  },
}
export const documents: Column = {
  type: 'jsonb',
  oid: 3802,
  write(value: object) {
    reserve(1)
    // The version of the form: its text.
    bytes[end++] = 1
    writeText(JSON.stringify(value))
  },
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Arrays of different length do not fit into one: each travels as its text, to be cast where it is used. */
export const lists: Column = {
  type: 'text',
  oid: 25,
  write: (values: readonly (string | null)[]) =>
    writeText(`{${values.map((value) => (value === null ? 'NULL' : quoted(value))).join(',')}}`),
}

export const columnNames = (columns: object): string => Object.keys(columns).join(', ')

/** A parameter for each. */
export const columnParameters = (columns: object, parameter: Parameter): string =>
  Object.values(columns)
    .map(({ type }: Column) => parameter(`${type}[]`))
    .join(', ')

/** The parameters themselves. A column of nothing but nulls is null: `unnest` pads it to the length of the others. */
export const writeColumns = <Row extends object>(
  columns: Columns<Row>,
  rows: readonly Row[],
): (Buffer | null)[] =>
  Object.entries<Column>(columns).map(([field, column]) =>
    writeColumn(
      column,
      rows.map((row) => row[field as keyof Row]),
    ),
  )

/** One column, or the array of an `= any(…)`. */
export function writeColumn({ oid, write }: Column, values: readonly unknown[]): Buffer | null {
  end = 0
  writeInt32(values.length === 0 ? 0 : 1)
  writeInt32(1)
  writeInt32(oid)
  if (values.length > 0) {
    writeInt32(values.length)
    writeInt32(1)
  }
  let isEmpty = true
  for (const value of values) {
    writeInt32(-1)
    if (value === null) continue
    const start = end
    write(value as never)
    view.setInt32(start - 4, end - start)
    isEmpty = false
  }
  return isEmpty && values.length > 0 ? null : Buffer.from(bytes.subarray(0, end))
}
