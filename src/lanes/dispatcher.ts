/** Drives all lanes of a worker: one claim for all of them at a time, hand-overs side by side, settled in batches. */
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Queryable } from '../store/db.ts'
import {
  claimMessages,
  findMarked,
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

export type DispatcherOptions = {
  db: Queryable
  workerId: string
  clock: Clock
  log: Log
  /** Hands one message over and says what came of it; never throws. */
  handOver(message: ClaimedMessage, lane: Lane): Promise<Settlement>
  /** False while the lease may have run out: nothing new is claimed. */
  mayDrive(): boolean
  onSettled?(settlement: Settlement, isOurs: boolean): void
}

export class Dispatcher {
  readonly lanes = new Map<string, Lane>()
  readonly #options: DispatcherOptions
  readonly #settler: Settler
  readonly #inFlight = new Map<string, Lane>()
  #isPumping = false
  #isWanted = false
  #timer: NodeJS.Timeout | undefined
  readonly #poll: NodeJS.Timeout
  readonly #strayCheck: NodeJS.Timeout
  #strays = new Set<string>()
  #turn = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#settler = createSettler({
      ...options,
      onSettled: (settlement, isOurs) => this.#settled(settlement, isOurs),
    })
    this.#poll = setInterval(() => this.wake('*'), pollMs)
    this.#strayCheck = setInterval(() => void this.#unmarkStrays(), strayCheckMs)
  }

  add(lane: Lane): void {
    this.lanes.set(lane.lineId, lane)
    this.#pump()
  }

  /** Resolves when nothing of the lane is in flight any more. */
  async remove(lineId: string): Promise<void> {
    const lane = this.lanes.get(lineId)
    if (lane === undefined) return
    lane.stop()
    while (lane.inFlight > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      if (this.lanes.get(lineId) !== lane) return
    }
    this.lanes.delete(lineId)
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

  /** Stops claiming, lets what is in flight end, and writes it down. */
  async close(): Promise<void> {
    clearInterval(this.#poll)
    clearInterval(this.#strayCheck)
    await Promise.all([...this.lanes.keys()].map((id) => this.remove(id)))
    await this.#settler.drain()
    clearTimeout(this.#timer)
  }

  get inFlight(): number {
    return this.#inFlight.size
  }

  #pump(): void {
    this.#isWanted = true
    if (this.#isPumping) return
    this.#isPumping = true
    clearTimeout(this.#timer)
    void this.#run().finally(() => {
      this.#isPumping = false
      this.#setTimer()
    })
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false
      const wishes = this.#options.mayDrive() ? this.#wishes() : []
      if (wishes.length === 0) return
      try {
        this.#takeOn(
          wishes,
          await claimMessages(this.#options.db, this.#options.workerId, wishes, this.#options.clock.now()),
        )
      } catch (error) {
        this.#options.log.warn({ err: error }, 'work could not be fetched; trying again')
        return
      }
    }
  }

  /** Every lane that has slots and may have work, another one first each time, up to a bound for one claim. */
  #wishes(): ClaimWish[] {
    const nowMs = performance.now()
    const lanes = [...this.lanes.values()]
    const start = this.#turn++ % Math.max(1, lanes.length)
    const wishes: ClaimWish[] = []
    let slots = maxSlotsPerClaim
    for (let index = 0; index < lanes.length && slots > 0; index++) {
      const lane = lanes[(start + index) % lanes.length]!
      if (!lane.mayHaveWork) continue
      const free = Math.min(slots, lane.freeSlots(nowMs))
      if (free === 0) continue
      slots -= free
      const share = lane.lowShare(free)
      wishes.push({
        line_id: lane.lineId,
        epoch: lane.epoch,
        free,
        single_share: Math.ceil(share / 2),
        deferred_share: Math.floor(share / 2) || share,
      })
    }
    return wishes
  }

  #takeOn(wishes: ClaimWish[], messages: ClaimedMessage[]): void {
    const found = new Map<string, number>()
    for (const message of messages) found.set(message.lineId, (found.get(message.lineId) ?? 0) + 1)
    for (const { line_id: lineId, free } of wishes) {
      const lane = this.lanes.get(lineId)
      const count = found.get(lineId) ?? 0
      lane?.claimed(count)
      if (lane && count < free) lane.mayHaveWork = false
    }
    // The claim's UPDATE returns them in no order; ids are in the order of acceptance.
    messages.sort((a, b) => (a.messageId < b.messageId ? -1 : 1))
    for (const message of messages) {
      const lane = this.lanes.get(message.lineId)!
      this.#inFlight.set(message.messageId, lane)
      void lane.inOrder(message.contactId, async () => {
        this.#settler.add(await this.#options.handOver(message, lane))
      })
    }
  }

  #settled(settlement: Settlement, isOurs: boolean): void {
    const lane = this.#inFlight.get(settlement.message_id)
    this.#inFlight.delete(settlement.message_id)
    lane?.settled(1)
    if (!isOurs)
      this.#options.log.warn(
        { messageId: settlement.message_id },
        'settled too late: the line has another owner',
      )
    this.#options.onSettled?.(settlement, isOurs)
    if (lane?.mayHaveWork) this.#pump()
  }

  #setTimer(): void {
    const nowMs = performance.now()
    let next = pollMs
    for (const lane of this.lanes.values()) next = Math.min(next, lane.nextLookMs(nowMs) ?? pollMs)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#pump(), Math.max(1, next))
  }

  /**
   * A claim whose answer was lost leaves marks that nobody works on. Marked in our name in two looks in a row and
   * not in flight: it was never handed over, so the mark is taken off.
   */
  async #unmarkStrays(): Promise<void> {
    const { db, log, mayDrive } = this.#options
    if (!mayDrive() || this.lanes.size === 0) return
    try {
      const lanes = [...this.lanes.values()].map((lane) => ({ line_id: lane.lineId, epoch: lane.epoch }))
      const marked = await findMarked(db, lanes)
      const strays = marked
        .filter(({ messageId }) => !this.#inFlight.has(messageId))
        .map(({ messageId }) => messageId)
      const certain = strays.filter((id) => this.#strays.has(id))
      this.#strays = new Set(strays)
      if (certain.length > 0) await unmark(db, certain, lanes)
    } catch (error) {
      log.debug({ err: error }, 'stray marks could not be looked for')
    }
  }
}
