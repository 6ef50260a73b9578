import type { Db } from '../store/db.ts'

/** A readiness check: what is wrong with the database, in words; undefined when it answers. */
export const createDatabaseCheck = (db: Db) => async (): Promise<string | undefined> => {
  try {
    await db.query('select 1')
    return undefined
  } catch {
    return 'the database does not answer'
  }
}
