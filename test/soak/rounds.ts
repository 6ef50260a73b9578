/** Round after round: break something at a chance moment, put it back, wait until all is well again. */
import { setTimeout as wait } from 'node:timers/promises'
import { deckOfFaults, longFaults, pause, type Fault } from './faults.ts'
import { findMark } from './ledger.ts'
import { judge, type Stored, type Verdict } from './judge.ts'
import { showId } from '../../src/lib/ids.ts'
import { createRandom } from './random.ts'
import { openWorld, type World } from './world.ts'

export type SoakOptions = {
  seed: number
  /** Whichever comes first. */
  minutes: number
  rounds: number
  ratePerSecond: number
  /** Below 1 faults last for less time. */
  pace?: number
  /** Those of all faults that are wanted; default: all. */
  faults?: Fault[]
  stopping: AbortSignal
  onRound(round: Round): void
  say(words: string): void
}

export type Round = {
  number: number
  fault: string
  note: string | undefined
  /** Until everything was put back. */
  tookMs: number
  /** From then until everything serves, takes and sends again. */
  recoveryMs: number
  accepted: number
  states: Record<string, number>
}

export type SoakResult = Verdict & {
  /** How often each fault was done. */
  done: Record<string, number>
  rounds: number
  falseAnswers: string[]
  complaints: string[]
  callbacks: number
  /** What the most patient caller waited for an answer. */
  longestMs: number
}

/** Far beyond what it takes: on a machine with other work (load 30 on 2 cores) a start was seen to take a minute. */
const recoveryLimitMs = 240_000
const settleLimitMs = 240_000

/** Undefined when it was stopped before its end: then there is nothing to judge. */
export async function runSoak(options: SoakOptions): Promise<SoakResult | undefined> {
  const random = createRandom(options.seed)
  const world = await openWorld({ ...options, random })
  const complaints: string[] = []
  const done: Record<string, number> = {}
  try {
    await recovered(world)
    const endsAt = performance.now() + options.minutes * 60_000
    const deck = dealing(options, random)
    let number = 0
    while (number < options.rounds && performance.now() < endsAt && !options.stopping.aborted) {
      const fault = deck()
      number++
      done[fault.name] = (done[fault.name] ?? 0) + 1
      await pause(world, random.between(200, 1_500))
      const startedAt = performance.now()
      const outcome = await fault.run(world)
      const tookMs = performance.now() - startedAt
      if (outcome?.complaint) complaints.push(`round ${number}, ${fault.name}: ${outcome.complaint}`)
      const recoveryMs = await recovered(world)
      for (const node of [world.a, world.b])
        for (const words of node.takeCrashes())
          complaints.push(`round ${number}, ${fault.name}: a process of node ${node.name} crashed: ${words}`)
      if (recoveryMs === undefined) {
        if (!options.stopping.aborted)
          complaints.push(`round ${number}, ${fault.name}: not well again after ${recoveryLimitMs / 1000} s`)
        break
      }
      options.onRound({
        number,
        fault: fault.name,
        note: outcome?.note,
        tookMs,
        recoveryMs,
        accepted: world.load.accepted,
        states: await countStates(world),
      })
    }
    if (options.stopping.aborted) return undefined
    options.say('waiting for everything to settle')
    await world.load.stop()
    await settled(world)
    if (options.stopping.aborted) return undefined
    return { ...(await compare(world, complaints)), done, rounds: number }
  } catch (error) {
    // Ctrl-C at a terminal reaches the nodes too, in the middle of whatever they were doing.
    if (options.stopping.aborted) return undefined
    throw error
  } finally {
    world.load.abandon()
    await world.close()
  }
}

/** Each fault once in an order of chance, then all of them again; the long ones come once, somewhere in the first half. */
function dealing({ faults, minutes, rounds }: SoakOptions, random: World['random']): () => Fault {
  const pool = faults ?? deckOfFaults
  const isLong = faults === undefined && minutes >= 5 && rounds >= pool.length
  let deck: Fault[] = random.shuffle(isLong ? [...pool, ...longFaults] : pool)
  return () => {
    if (deck.length === 0) deck = random.shuffle(pool)
    return deck.pop()!
  }
}

/** Both nodes are ready, each has accepted something since, and something has reached the provider. */
async function recovered(world: World): Promise<number | undefined> {
  const { a, b, load, provider, stopping } = world
  const startedAt = performance.now()
  const before = { ...load.acceptedBy }
  const takenBefore = provider.taken.size
  const isWell = async () =>
    load.acceptedBy['a']! > before['a']! &&
    load.acceptedBy['b']! > before['b']! &&
    provider.taken.size > takenBefore &&
    (await a.isReady()) &&
    (await b.isReady())
  while (!(await isWell())) {
    if (stopping.aborted || performance.now() - startedAt > recoveryLimitMs) return undefined
    await wait(50)
  }
  return performance.now() - startedAt
}

/** Nothing waits any more: for its line, for the provider's answer, for a receipt on its way. */
async function settled(world: World): Promise<void> {
  const giveUpAt = performance.now() + settleLimitMs
  let before = ''
  while (performance.now() < giveUpAt && !world.stopping.aborted) {
    const [row] = await world.db.query<{ waiting: number }>('select count(*)::int as waiting from outbox')
    // Receipts of what was never settled, or never was, stay: they have no message to go to.
    const now = JSON.stringify(await countStates(world))
    if (row!.waiting === 0 && world.provider.receipts.pending === 0 && now === before) return
    before = now
    await wait(2_000, undefined, { signal: world.stopping }).catch(() => {})
  }
}

async function countStates({ db }: World): Promise<Record<string, number>> {
  const rows = await db
    .query<{ state: string; count: number }>(
      'select state, count(*)::int as count from message group by state',
    )
    .catch(() => [])
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

async function compare(
  { db, load, provider, receiver }: World,
  complaints: string[],
): Promise<Omit<SoakResult, 'done' | 'rounds'>> {
  const rows = await db.query<{ id: string; state: string; text: string }>(
    `select id, state, content->>'text' as text from message`,
  )
  const stored = rows.map(({ id, state, text }): Stored => ({
    id: showId('msg', id),
    state,
    mark: findMark(text),
  }))
  const known = new Set(stored.map(({ id }) => id))
  for (const id of receiver.toldOf)
    if (!known.has(id)) complaints.push(`a callback told of ${id}, which is not stored`)
  const verdict = judge({ asked: load.asked, stored, ...provider })
  return {
    ...verdict,
    falseAnswers: load.falseAnswers,
    complaints,
    callbacks: receiver.count(),
    longestMs: load.longestMs,
  }
}
