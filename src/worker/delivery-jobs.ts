/** What keeps waiting messages moving: early receipts, unknown outcomes, deferred messages, parts, templates. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { fetchInboundMedia } from '../flows/fetch-inbound-media.ts'
import { giveUpParts, type OnReceived } from '../flows/receive-inbound.ts'
import { matchEarlyReceipts } from '../flows/record-receipts.ts'
import { releaseDeferred } from '../flows/release-deferred.ts'
import { resolveUnknown } from '../flows/resolve-unknown.ts'
import type { OnChanged } from '../flows/state-change.ts'
import { syncTemplates } from '../flows/sync-templates.ts'
import { CatalogueCache } from '../store/catalogue.ts'
import type { Db } from '../store/db.ts'
import { findLinesWithMedia } from '../store/inbound-media.ts'
import { removeLostUnknown } from '../store/unknown-messages.ts'
import type { Delivery } from './delivery.ts'
import type { Job } from './jobs.ts'

export function deliveryJobs(context: {
  db: Db
  clock: Clock
  log: Log
  delivery: Delivery
  onChanged?: OnChanged
  onReceived?: OnReceived
}): Job[] {
  const { db, log, delivery } = context
  const catalogues = new CatalogueCache(db)
  return [
    {
      name: 'match early receipts',
      everyMs: 1_000,
      async run(stopping) {
        while (!stopping.aborted) {
          const { taken } = await matchEarlyReceipts(context, receiptBite)
          if (taken < receiptBite) return
        }
      },
    },
    {
      name: 'release deferred messages',
      everyMs: 1_000,
      async run(stopping) {
        while (!stopping.aborted) {
          const { released, waiting, blocked, lineIds } = await releaseDeferred(
            { ...context, catalogues },
            bite,
          )
          delivery.wake(lineIds)
          if (released + waiting + blocked < bite) return
        }
      },
    },
    {
      name: 'resolve unknown outcomes',
      everyMs: 5_000,
      async run(stopping) {
        while (!stopping.aborted) {
          const { left, sentAgain, expired, lineIds } = await resolveUnknown(context, bite)
          delivery.wake(lineIds)
          if (left + sentAgain + expired < bite) return
        }
      },
    },
    { name: 'give up missing parts', everyMs: 60_000, run: () => giveUpParts(context) },
    {
      name: 'forget unknown outcomes of messages that are gone',
      everyMs: 60 * 60_000,
      run: () => removeLostUnknown(db, context.clock.now(), 5_000),
    },
    fetchFilesJob(context),
    {
      name: 'ask providers for template approvals',
      everyMs: 10 * 60_000,
      async run() {
        for (const { line, session } of delivery.lines.values())
          if (session) await syncTemplates({ db, log }, line, session)
      },
    },
  ]
}

const bite = 200
const receiptBite = 1_000

/** Lines whose received files are fetched at the same time: each file may have 100 MB. */
const maxFetching = 4

/** A line whose files come slowly holds up no other: the job itself waits for none of them. */
function fetchFilesJob(context: { db: Db; clock: Clock; log: Log; delivery: Delivery }): Job {
  const { db, clock, log, delivery } = context
  const fetching = new Set<string>()
  return {
    name: 'fetch received files',
    everyMs: 1_000,
    async run() {
      const able = [...delivery.lines.values()].filter(({ session }) => session?.fetchMedia)
      if (able.length === 0) return
      const lineIds = able.map(({ line }) => line.id)
      for (const lineId of await findLinesWithMedia(db, lineIds, clock.now())) {
        const session = delivery.lines.get(lineId)?.session
        if (fetching.size >= maxFetching) return
        if (session === undefined || fetching.has(lineId)) continue
        fetching.add(lineId)
        fetchInboundMedia(context, lineId, session)
          .catch((error: unknown) => log.warn({ err: error, lineId }, 'received files could not be fetched'))
          .finally(() => fetching.delete(lineId))
      }
    },
  }
}
