/** Delivery in one process: owns lanes, drives them, and keeps what waits moving. */
import type { Registry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { LineReport } from '../drivers/driver.ts'
import { dispatchMessage, type LineEffect } from '../flows/dispatch-message.ts'
import { Dispatcher } from '../lanes/dispatcher.ts'
import type { Lane } from '../lanes/lane.ts'
import { createOwnership } from '../lanes/ownership.ts'
import { listenForWakes } from '../lanes/wake.ts'
import type { Db } from '../store/db.ts'
import { failOver, laneDepths } from '../store/lanes.ts'
import { expireMessages, type ClaimedMessage, type Settlement } from '../store/outbox.ts'
import { createDeliveryMetrics } from './delivery-metrics.ts'
import { DrivenLines } from './driven-lines.ts'
import { runJobs } from './jobs.ts'

export type DeliveryOptions = {
  db: Db
  clock: Clock
  log: Log
  sealer: Sealer
  outbound: Outbound
  publicUrl: string
  nodeName: string
  registry: Registry
  report(line: { id: string; companyId: string }, reports: LineReport[]): Promise<void>
}

export type Delivery = {
  /** Lanes of this process that have new work. */
  wake(lineIds: Iterable<string> | '*'): void
  /** Sessions of the lines driven here. */
  lines: DrivenLines
  close(): Promise<void>
}

export async function startDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { db, clock, log } = options
  const metrics = createDeliveryMetrics(options.registry)
  const lines = new DrivenLines(options)

  async function handOver(message: ClaimedMessage, lane: Lane): Promise<Settlement> {
    const session = lines.get(message.lineId)?.session
    if (session === undefined) return putBack(message, clock.now())
    const { settlement, effect } = await dispatchMessage(options, message, session)
    metrics.handedOver(message, clock.now())
    apply(effect, lane)
    return settlement
  }

  function apply(effect: LineEffect, lane: Lane): void {
    switch (effect.kind) {
      case 'works':
        return lane.succeeded()
      case 'nothing':
        return
      case 'backs_off':
        return lane.backOff(performance.now(), effect.askedMs)
      case 'pauses':
        // Closed here at once; the database follows, and is where other nodes read it.
        lane.backOff(performance.now())
        lines
          .pause(lane.lineId, effect.reason)
          .catch((error: unknown) => log.error({ err: error }, 'a line could not be paused'))
    }
  }

  const ownership = createOwnership({
    db,
    log,
    nodeName: options.nodeName,
    onOwned: (owned) => lines.align(owned),
    onSurplus: (lineIds) => lines.stop(lineIds),
  })
  const dispatcher = new Dispatcher({
    db,
    clock,
    log,
    workerId: ownership.workerId,
    handOver,
    mayDrive: ownership.mayDrive,
    onSettled: (settlement) => metrics.settled(settlement),
  })
  lines.attach(dispatcher)
  await ownership.refresh()
  const wakes = await listenForWakes(db.url, log, (lineIds) => dispatcher.wake(lineIds))
  const jobs = runJobs(
    [
      { name: 'expire messages', everyMs: 5_000, run: () => expireAll(db, clock) },
      { name: 'fail over', everyMs: 5_000, run: () => failOverAll(db, clock, lines) },
      {
        name: 'lane depths',
        everyMs: 10_000,
        run: async () =>
          metrics.depths(await laneDepths(db, [...dispatcher.lanes.keys()], clock.now()), clock.now()),
      },
    ],
    log,
  )

  return {
    wake: (lineIds) => dispatcher.wake(lineIds),
    lines,
    async close() {
      await jobs.close()
      await wakes.close()
      await dispatcher.close()
      await lines.close()
      await ownership.close()
    },
  }
}

/** No session yet (a line that was changed this very moment): nothing happened, and it is due again at once. */
const putBack = (message: ClaimedMessage, now: Date): Settlement => ({
  message_id: message.messageId,
  line_id: message.lineId,
  epoch: message.epoch,
  state: 'queued',
  at: now,
  due_at: now,
  to_line_id: null,
  counts: false,
  provider_ids: [],
  error_code: null,
  error_message: null,
  event: null,
  resolve_at: null,
})

async function expireAll(db: Db, clock: Clock): Promise<void> {
  while ((await expireMessages(db, clock.now())).length === 1000);
}

/** What waits on a line that cannot send goes to the first line of its list that can. */
async function failOverAll(db: Db, clock: Clock, lines: DrivenLines): Promise<void> {
  for (const { line, lane } of lines.values()) {
    if (line.failoverLineIds.length === 0 || !lane.isClosed(performance.now())) continue
    const [target] = await db.query<{ id: string }>(
      `select l.id from unnest($1::uuid[]) with ordinality as f(id, place) join line l on l.id = f.id
       where l.company_id = $2 and l.channel = $3 and l.is_enabled and l.paused_at is null order by f.place limit 1`,
      [line.failoverLineIds, line.companyId, line.channel],
    )
    if (target) while ((await failOver(db, line.id, target.id, clock.now(), 500)).length === 500);
  }
}
