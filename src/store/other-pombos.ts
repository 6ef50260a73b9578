/** Who else of us is at work on this database. */
import type { Queryable } from './db.ts'

/** A worker that was silent for longer than this is gone, whatever became of it. */
const silentSeconds = 30

/** Connections of other programs of ours, by their names (`pombo worker`), and workers that have just been heard of. */
export async function otherPombos(connection: Queryable, ownName: string): Promise<string[]> {
  const rows = await connection.query<{ name: string }>(
    `select application_name as name from pg_stat_activity
      where datname = current_database() and application_name like 'pombo %' and application_name <> $1
      union select 'worker ' || name from worker where beat_at > clock_timestamp() - make_interval(secs => $2) order by 1`,
    [ownName, silentSeconds],
  )
  return rows.map(({ name }) => name)
}
