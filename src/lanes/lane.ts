/**
 * One line being driven: its rate, its in-flight window, its breaker, and the order of messages to one contact.
 * Lives in the memory of the one worker that owns it.
 */
import { backoffMs, lineBackoff } from './backoff.ts'
import { Rate } from './rate.ts'

export type LaneLimits = { ratePerSecond: number; window: number; isPaused: boolean }

export class Lane {
  readonly lineId: string
  readonly epoch: number
  /** Cleared when a claim found less than it asked for; set again by a wake-up or the poll. */
  mayHaveWork = true
  inFlight = 0
  #limits: LaneLimits
  readonly #rate: Rate
  #isStopping = false
  #faults = 0
  #closedUntilMs = 0
  /** The last hand-over of each contact that has one under way: the next one waits for it. */
  readonly #tails = new Map<string, Promise<void>>()
  #lowShareDebt = 0

  constructor(lineId: string, epoch: number, limits: LaneLimits, nowMs: number) {
    this.lineId = lineId
    this.epoch = epoch
    this.#limits = limits
    this.#rate = new Rate(limits.ratePerSecond, nowMs)
  }

  change(limits: LaneLimits, nowMs: number): void {
    if (limits.ratePerSecond !== this.#limits.ratePerSecond) this.#rate.change(limits.ratePerSecond, nowMs)
    this.#limits = limits
    this.mayHaveWork = true
  }

  /** No new work; what is in flight goes on. */
  stop(): void {
    this.#isStopping = true
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Has its breaker been open, or is it paused: is waiting here pointless for now? */
  isClosed(nowMs: number): boolean {
    return this.#limits.isPaused || nowMs < this.#closedUntilMs
  }

  freeSlots(nowMs: number): number {
    if (this.#isStopping || this.isClosed(nowMs)) return 0
    // After a fault one message tries the line before the window opens again.
    const window = this.#faults > 0 ? 1 : this.#limits.window
    return Math.max(0, Math.min(window - this.inFlight, this.#rate.available(nowMs)))
  }

  /** When to look again, if it is rate or breaker that holds it and not a lack of work or slots. */
  nextLookMs(nowMs: number): number | undefined {
    if (this.#isStopping || this.#limits.isPaused || !this.mayHaveWork) return undefined
    if (nowMs < this.#closedUntilMs) return this.#closedUntilMs - nowMs
    if (this.inFlight >= this.#limits.window) return undefined
    const waitMs = this.#rate.waitMs(nowMs)
    return waitMs > 0 ? waitMs : undefined
  }

  /** Of so many slots, the part that is kept for the classes below: a tenth, also when slots come one by one. */
  lowShare(slots: number): number {
    this.#lowShareDebt = Math.min(10, this.#lowShareDebt + slots / 10)
    const share = Math.floor(this.#lowShareDebt)
    this.#lowShareDebt -= share
    return Math.min(share, slots)
  }

  claimed(count: number): void {
    this.inFlight += count
    this.#rate.take(count)
  }

  /** Runs after everything to the same contact that was claimed before. */
  inOrder(contactId: string, work: () => Promise<void>): Promise<void> {
    const before = this.#tails.get(contactId)
    const run = before === undefined ? work() : before.then(work)
    const tail = run.finally(() => {
      if (this.#tails.get(contactId) === tail) this.#tails.delete(contactId)
    })
    this.#tails.set(contactId, tail)
    return tail
  }

  settled(count: number): void {
    this.inFlight -= count
  }

  succeeded(): void {
    this.#faults = 0
    this.#closedUntilMs = 0
  }

  /** The breaker: closed for longer with every fault in a row, or for as long as the provider asked. */
  backOff(nowMs: number, askedMs?: number): void {
    // Many in flight fail together: one step, not one for each.
    if (nowMs < this.#closedUntilMs) return
    this.#faults++
    this.#closedUntilMs = nowMs + (askedMs ?? backoffMs(this.#faults, lineBackoff))
  }
}
