/** Reads that people and rules wait for, call by call in turn on the small and the large database. */
import { anyContents, findRestrictionHits } from '../src/store/restrictions.ts'
import { listMessages, type MessageFilter } from '../src/store/messages.ts'
import { readReport } from '../src/store/reports.ts'
import { readTimeline } from '../src/store/timeline.ts'
import type { Side, Sides } from './growth.ts'
import { median, ratios } from './statistics.ts'
import type { Result } from './table.ts'

const rounds = 40
const pageSize = 50
const probesPerLookup = 64
const dayMs = 86_400_000

/** One call; throws when it found nothing, since a lookup that misses is no measure of one that hits. */
type Lookup = (side: Side, round: number) => Promise<void>

const firstPage =
  (filter: (side: Side, round: number) => MessageFilter): Lookup =>
  async (side, round) => {
    const { messages } = await listMessages(side.db, side.shared.stage.companyId, filter(side, round), {
      limit: pageSize,
    })
    if (messages.length === 0) throw new Error('A page of the message log came back empty.')
  }

const lastWeek = () => new Date(Date.now() - 7 * dayMs)

const pages: Record<string, Lookup> = {
  'a recipient': firstPage(({ past }, round) => ({
    recipients: [past.samples[round % past.samples.length]!.recipient],
  })),
  'state failed': firstPage(() => ({ state: 'failed' })),
  'a channel, 7 days': firstPage(() => ({ channel: 'sms', from: lastWeek() })),
  'a template, 7 days': firstPage(({ past }) => ({ templateId: past.templateId, from: lastWeek() })),
}

const oneMessage: Lookup = async ({ db, past, shared }, round) => {
  const { id } = past.samples[round % past.samples.length]!
  const timeline = await readTimeline(db, shared.stage.companyId, id)
  if (timeline === undefined || timeline.events.length < 2)
    throw new Error('A message that was filled in is not to be found whole.')
}

const report: Lookup = async ({ db, shared }) => {
  const found = await readReport(db, shared.stage.companyId, {
    from: new Date(Date.now() - 30 * dayMs),
    to: new Date(),
    groupBy: ['day', 'outcome'],
    timeZone: 'America/Sao_Paulo',
  })
  if (found === undefined || found.rows.length === 0) throw new Error('A report came back empty.')
}

/** As a batch of accepting does it: every other number is on the list. */
const restrictions: Lookup = async ({ db, past }, round) => {
  const { listId, phones } = past.restrictions
  const probes = Array.from({ length: probesPerLookup }, (_, ref) => ({
    ref,
    lists: [anyContents(listId)],
    phone:
      ref % 2 === 0
        ? phones[(round * probesPerLookup + ref) % phones.length]!
        : `5521${960_000_000 + round * probesPerLookup + ref}`,
  }))
  const hits = await findRestrictionHits(db, probes, new Date())
  if (hits.size !== probesPerLookup / 2)
    throw new Error(`Of ${probesPerLookup / 2} restricted numbers ${hits.size} were found.`)
}

type Times = { small: number[]; large: number[] }

/** The median of many calls on each side; the sides take turns. */
async function timeBoth(
  sides: Sides,
  lookup: Lookup,
  firstRound: number,
): Promise<{ small: number; large: number }> {
  const times: Times = { small: [], large: [] }
  for (let round = 0; round < rounds; round++)
    for (const name of ['small', 'large'] as const) {
      const startedAt = performance.now()
      await lookup(sides[name], firstRound + round)
      times[name].push(performance.now() - startedAt)
    }
  return { small: median(times.small), large: median(times.large) }
}

export async function compareLookups(
  sides: Sides,
  pairs: number,
  onPair: (pair: number) => void,
): Promise<Result[]> {
  const lookups: Record<string, Lookup> = { ...pages, oneMessage, report, restrictions }
  const times = new Map<string, Times>(Object.keys(lookups).map((name) => [name, { small: [], large: [] }]))
  for (const lookup of Object.values(lookups)) await timeBoth(sides, lookup, 0)
  for (let pair = 1; pair <= pairs; pair++) {
    onPair(pair)
    for (const [name, lookup] of Object.entries(lookups)) {
      const { small, large } = await timeBoth(sides, lookup, pair * rounds)
      times.get(name)!.small.push(small)
      times.get(name)!.large.push(large)
    }
  }
  const ratiosOf = (name: string) => ratios(times.get(name)!.large, times.get(name)!.small)
  const shown = (name: string) =>
    `${median(times.get(name)!.large).toFixed(2)} over ${median(times.get(name)!.small).toFixed(2)} ms`
  // The slowest grown filter stands for all of them.
  const worst = Object.keys(pages).toSorted((a, b) => median(ratiosOf(b)) - median(ratiosOf(a)))[0]!
  return [
    {
      id: 'growth-log',
      values: ratiosOf(worst),
      details: [
        `judged by the worst filter: ${worst}`,
        ...Object.keys(pages).map((name) => `${name}: ${median(ratiosOf(name)).toFixed(2)} (${shown(name)})`),
      ],
    },
    {
      id: 'growth-restrictions',
      values: ratiosOf('restrictions'),
      details: [
        `${shown('restrictions')} for ${probesPerLookup} numbers in one statement; ${sides.large.past.restrictions.count} entries over ${sides.small.past.restrictions.count}`,
      ],
    },
    { id: 'growth-message', values: ratiosOf('oneMessage'), details: [shown('oneMessage')] },
    { id: 'growth-report', values: ratiosOf('report'), details: [shown('report')] },
  ]
}
