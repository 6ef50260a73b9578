/** How lines are doing, as their workers see them; pages read it through `listLanes`. */
import type { Queryable } from './db.ts'

/** The last fault of the line itself; refusals of single messages are none. */
export type LineFault = { kind: string; code: string; message: string; at: Date }

export type LineHealth = {
  lineId: string
  epoch: number
  isUp: boolean
  detail: string
  /** While the breaker is open. */
  heldUntil: Date | null
  lastError: LineFault | null
}

/** What a worker that has lost the lane still writes changes nothing; one that has just begun keeps the last fault. */
export async function saveLineHealth(connection: Queryable, healths: readonly LineHealth[]): Promise<void> {
  await connection.query(
    {
      name: 'line_health_save',
      text: `
insert into line_health (line_id, epoch, is_up, detail, held_until, last_error)
select h.line_id, h.epoch, h.is_up, h.detail, h.held_until, nullif(h.last_error, 'null') from json_to_recordset($1::json)
  as h(line_id uuid, epoch bigint, is_up boolean, detail text, held_until timestamptz, last_error jsonb)
join line l on l.id = h.line_id
on conflict (line_id) do update set epoch = excluded.epoch, is_up = excluded.is_up, detail = excluded.detail,
  held_until = excluded.held_until, last_error = coalesce(excluded.last_error, line_health.last_error)
where line_health.epoch <= excluded.epoch`,
    },
    [
      JSON.stringify(
        healths.map((health) => ({
          line_id: health.lineId,
          epoch: health.epoch,
          is_up: health.isUp,
          detail: health.detail,
          held_until: health.heldUntil,
          last_error: health.lastError,
        })),
      ),
    ],
  )
}
