/** Every value that is sealed at rest, in one list: who changes the key has to know them all. */
import type { Sealer } from '../lib/secrets.ts'
import type { Queryable } from './db.ts'

/** A test compares it with the schema, where such columns end in `_sealed`. */
export const sealedColumns: readonly { table: string; key: string; columns: readonly string[] }[] = [
  {
    table: 'company',
    key: 'id',
    columns: ['private_token_sealed', 'callback_secret_sealed', 'previous_callback_secret_sealed'],
  },
  { table: 'line', key: 'id', columns: ['secrets_sealed'] },
  { table: 'user_totp', key: 'user_id', columns: ['secret_sealed'] },
  { table: 'webhook', key: 'company_id', columns: ['secret_sealed', 'previous_secret_sealed'] },
]

const rowsPerFetch = 500

/** A value that the old key does not open; the message names the row. */
export class UnreadableValueError extends Error {}

/** Nobody may write a value of the old key after it was passed by: writers wait, or this gives up first. */
export async function lockSealedTables(transaction: Queryable): Promise<void> {
  await transaction.query("set local lock_timeout = '5s'")
  for (const { table } of sealedColumns) await transaction.query(`lock table ${table} in exclusive mode`)
}

/** In one transaction, which holds the tables; returns how many values it sealed anew. */
export async function resealValues(
  transaction: Queryable,
  from: Sealer,
  to: Sealer,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  let done = 0
  for (const { table, key, columns } of sealedColumns) {
    // A cursor sees the table as it was when it was opened, whatever is changed on the way.
    await transaction.query(
      `declare sealed no scroll cursor for select ${key} as key, ${columns.join(', ')} from ${table} order by ${key}`,
    )
    for (;;) {
      const rows = await transaction.query<{ key: string } & Record<string, Buffer | null>>(
        `fetch ${rowsPerFetch} from sealed`,
      )
      if (rows.length === 0) break
      const anew = columns.map((column) =>
        rows.map((row) => {
          const value = row[column]
          if (value === null || value === undefined) return null
          done++
          return to.seal(opened(from, value, `${table}.${column}`, row.key))
        }),
      )
      const parameters = columns.map((_, at) => `$${at + 2}::bytea[]`).join(', ')
      const changes = columns.map((column, at) => `${column} = v.c${at}`).join(', ')
      await transaction.query(
        `update ${table} t set ${changes} from unnest($1::uuid[], ${parameters}) as v(key, ${columns.map((_, at) => `c${at}`).join(', ')})
          where t.${key} = v.key`,
        [rows.map((row) => row.key), ...anew],
      )
      onProgress(done)
    }
    await transaction.query('close sealed')
  }
  return done
}

function opened(sealer: Sealer, value: Buffer, place: string, key: string): string {
  try {
    return sealer.open(value)
  } catch (error) {
    throw new UnreadableValueError(
      `The value ${place} of ${key} cannot be opened with the present key: nothing was changed.`,
      { cause: error },
    )
  }
}

/** The first value of each column, to see whether a key is the right one. */
export async function sampleSealedValues(db: Queryable): Promise<{ place: string; value: Buffer }[]> {
  const samples: { place: string; value: Buffer }[] = []
  for (const { table, columns } of sealedColumns)
    for (const column of columns) {
      const [row] = await db.query<{ value: Buffer }>(
        `select ${column} as value from ${table} where ${column} is not null limit 1`,
      )
      if (row) samples.push({ place: `${table}.${column}`, value: row.value })
    }
  return samples
}
