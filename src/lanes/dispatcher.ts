/** Drives all lanes of a worker: one claim for all of them at a time, hand-overs side by side, settled in batches. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Queryable } from '../store/db.ts'
import {
  claimMessages,
  findMarked,
  putBack,
  unmark,
  type ClaimedMessage,
  type ClaimWish,
  type Settlement,
} from '../store/outbox.ts'
import type { Lane } from './lane.ts'
import { createSettler, type Settler } from './settler.ts'

const maxSlotsPerClaim = 2_000
const pollMs = 1_000
const strayCheckMs = 5_000
/** Lanes that wait for their rate are looked at together, not each for its own millisecond. */
const minLookMs = 5

export type DispatcherOptions = {
  db: Queryable
  workerId: string
  clock: Clock
  log: Log
  /** Hands one message over and says what came of it; never throws. */
  handOver(message: ClaimedMessage, lane: Lane): Promise<Settlement>
  /** False while the lease may have run out: nothing new is claimed or handed over. */
  mayDrive(): boolean
  onSettled?(settlement: Settlement): void
}

type Wish = { lane: Lane; claim: ClaimWish }

export class Dispatcher {
  readonly lanes = new Map<string, Lane>()
  readonly #options: DispatcherOptions
  readonly #settler: Settler
  readonly #inFlight = new Map<string, Lane>()
  #isPumping = false
  #isWanted = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  readonly #poll: NodeJS.Timeout
  #strayCheckAtMs = performance.now() + strayCheckMs
  /** The lane at which the next claim begins, so that all come first in turn. */
  #turn = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#settler = createSettler({
      db: options.db,
      log: options.log,
      onSettled: (batch, ours) => this.#settled(batch, ours),
    })
    this.#poll = setInterval(() => this.wake('*'), pollMs)
  }

  add(lane: Lane): void {
    this.lanes.set(lane.lineId, lane)
    this.#pump()
  }

  /** Nothing more is claimed for it; what is in flight still settles. */
  remove(lane: Lane): void {
    lane.stop()
    if (this.lanes.get(lane.lineId) === lane) this.lanes.delete(lane.lineId)
  }

  wake(lineIds: Iterable<string> | '*'): void {
    if (lineIds === '*') for (const lane of this.lanes.values()) lane.mayHaveWork = true
    else
      for (const id of lineIds) {
        const lane = this.lanes.get(id)
        if (lane) lane.mayHaveWork = true
      }
    this.#pump()
  }

  /** Once the lanes are stopped and idle: writes down what is left. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#poll)
    clearTimeout(this.#timer)
    await this.#settler.drain()
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  #pump(): void {
    this.#isWanted = true
    if (this.#isPumping || this.#isClosed) return
    this.#isPumping = true
    clearTimeout(this.#timer)
    void this.#run().finally(() => {
      this.#isPumping = false
      this.#setTimer()
    })
  }

  async #run(): Promise<void> {
    const { db, workerId, clock, log, mayDrive } = this.#options
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false
      if (!mayDrive()) return
      if (performance.now() >= this.#strayCheckAtMs) await this.#unmarkStrays()
      const wishes = this.#wishes()
      if (wishes.length === 0) return
      let messages: ClaimedMessage[] = []
      try {
        messages = await claimMessages(
          db,
          workerId,
          wishes.map(({ claim }) => claim),
          clock.now(),
        )
      } catch (error) {
        log.warn({ err: error }, 'work could not be fetched; trying again')
        for (const { lane, claim } of wishes) lane.claimed(claim.free, 0)
        return
      }
      this.#takeOn(wishes, messages)
    }
  }

  /** Every lane that has slots and may have work, up to a bound for one claim; the rest comes with the next. */
  #wishes(): Wish[] {
    const nowMs = performance.now()
    const lanes = [...this.lanes.values()]
    const wishes: Wish[] = []
    let slots = maxSlotsPerClaim
    for (let index = 0; index < lanes.length; index++) {
      const place = (this.#turn + index) % lanes.length
      const lane = lanes[place]!
      const free = lane.mayHaveWork ? lane.freeSlots(nowMs) : 0
      if (free === 0) continue
      if (slots === 0) {
        this.#turn = place
        this.#isWanted = true
        break
      }
      const taken = Math.min(slots, free)
      slots -= taken
      lane.reserve(taken)
      const { single, deferred } = lane.shares(taken)
      const { lineId, epoch } = lane
      wishes.push({
        lane,
        claim: { line_id: lineId, epoch, free: taken, single_share: single, deferred_share: deferred },
      })
    }
    return wishes
  }

  #takeOn(wishes: readonly Wish[], messages: ClaimedMessage[]): void {
    const lanes = new Map<string, Lane>()
    const found = new Map<string, number>()
    for (const { lineId } of messages) found.set(lineId, (found.get(lineId) ?? 0) + 1)
    for (const { lane, claim } of wishes) {
      const count = found.get(lane.lineId) ?? 0
      lanes.set(lane.lineId, lane)
      lane.claimed(claim.free, count)
      if (count < claim.free) lane.mayHaveWork = false
    }
    // The claim's UPDATE returns them in no order; ids are in the order of acceptance.
    messages.sort((a, b) => a.priority - b.priority || (a.messageId < b.messageId ? -1 : 1))
    for (const message of messages) {
      const lane = lanes.get(message.lineId)!
      this.#inFlight.set(message.messageId, lane)
      // A higher class does not wait for a lower one, so each has an order of its own.
      void lane.inOrder(`${message.priority} ${message.contactId}`, () => this.#handOver(message, lane))
    }
  }

  async #handOver(message: ClaimedMessage, lane: Lane): Promise<void> {
    const { handOver, mayDrive, clock, log } = this.#options
    try {
      // It may have waited for an earlier one to the same contact, or the claim's answer was slow.
      const isOpen = mayDrive() && lane.isOpen(performance.now())
      this.#settler.add(isOpen ? await handOver(message, lane) : putBack(message, clock.now()))
    } catch (error) {
      // Its slot and its mark stay: whether it left is not known, and the next owner calls it unknown.
      log.error({ err: error, messageId: message.messageId }, 'a hand-over failed in an unforeseen way')
    }
  }

  #settled(batch: readonly Settlement[], ours: ReadonlySet<string>): void {
    let isWorkLikely = false
    for (const settlement of batch) {
      const lane = this.#inFlight.get(settlement.message_id)
      this.#inFlight.delete(settlement.message_id)
      lane?.settled(1)
      // Given back untouched: due at once, here or wherever the lane goes.
      if (lane && settlement.state === 'queued' && settlement.due_at === null) lane.mayHaveWork = true
      isWorkLikely ||= lane?.mayHaveWork === true
      if (ours.has(settlement.message_id)) this.#options.onSettled?.(settlement)
    }
    if (ours.size < batch.length)
      this.#options.log.warn(
        { messages: batch.length - ours.size },
        'settled in vain: recorded before, or the line has another owner',
      )
    if (isWorkLikely) this.#pump()
  }

  #setTimer(): void {
    if (this.#isClosed) return
    const nowMs = performance.now()
    let next = pollMs
    for (const lane of this.lanes.values()) next = Math.min(next, lane.nextLookMs(nowMs) ?? pollMs)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#pump(), Math.max(minLookMs, next))
  }

  /**
   * A claim whose answer was lost leaves marks that nobody works on. Claims come one after another and none is under
   * way now, so what bears a mark of ours and is not in flight was never handed over.
   */
  async #unmarkStrays(): Promise<void> {
    this.#strayCheckAtMs = performance.now() + strayCheckMs
    const lanes = [...this.lanes.values()].map((lane) => ({ line_id: lane.lineId, epoch: lane.epoch }))
    if (lanes.length === 0) return
    const { db, log } = this.#options
    try {
      const marked = await findMarked(db, lanes)
      const strays = marked.flatMap(({ messageId }) => (this.#inFlight.has(messageId) ? [] : [messageId]))
      if (strays.length === 0) return
      await unmark(db, strays, lanes)
      log.warn({ messages: strays.length }, 'marks of a claim whose answer was lost are taken off')
      this.#isWanted = true
      for (const lane of this.lanes.values()) lane.mayHaveWork = true
    } catch (error) {
      log.debug({ err: error }, 'stray marks could not be looked for')
    }
  }
}
