/**
 * One line being driven: its rate, its in-flight window, its breaker, and the order of messages to one contact.
 * Lives in the memory of the one worker that owns it.
 */
import { backoffMs, lineBackoff } from './backoff.ts'
import { Rate } from './rate.ts'

export type LaneLimits = { ratePerSecond: number; window: number; isPaused: boolean }

/** Slots kept for the classes below the first, whatever waits above. */
export type Shares = { single: number; deferred: number }

/** No breaker opens again sooner, whatever a provider asked for. */
const minClosedMs = 100
/** So many hand-overs without an answer, and none answered between them: the provider is not there. */
const doubtsAllowed = 5
/** Unreachable for so long, what waits may go elsewhere. */
const awayMs = 10_000

export class Lane {
  readonly lineId: string
  readonly epoch: number
  /** Cleared when a claim found less than it asked for; set again by a wake-up or the poll. */
  mayHaveWork = true
  #limits: LaneLimits
  readonly #rate: Rate
  #inFlight = 0
  #isStopping = false
  #faults = 0
  #doubts = 0
  #closedAtMs = -Infinity
  #closedUntilMs = -Infinity
  #awaySinceMs: number | undefined
  #idle: (() => void)[] = []
  /** The last hand-over of each contact that has one under way: the next one waits for it. */
  readonly #tails = new Map<string, Promise<void>>()
  #singleDebt = 0
  #deferredDebt = 0

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

  /** Slots that are taken: from the claim until the outcome is written down. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** May something be handed over now, once it has a slot? */
  isOpen(nowMs: number): boolean {
    return !this.#isStopping && !this.#limits.isPaused && nowMs >= this.#closedUntilMs
  }

  /** Paused, or out of reach for a while: is waiting here pointless for now? */
  isDown(nowMs: number): boolean {
    return this.#limits.isPaused || (this.#awaySinceMs !== undefined && nowMs - this.#awaySinceMs >= awayMs)
  }

  /** How long the breaker still holds it; 0 when it does not. */
  heldForMs(nowMs: number): number {
    return Math.max(0, this.#closedUntilMs - nowMs)
  }

  freeSlots(nowMs: number): number {
    if (!this.isOpen(nowMs)) return 0
    return Math.max(0, Math.min(this.#window - this.#inFlight, this.#rate.available(nowMs)))
  }

  /** After a fault one message tries the line before the window opens again. */
  get #window(): number {
    return this.#faults > 0 ? 1 : this.#limits.window
  }

  /** When to look again, if it is rate or breaker that holds it and not a lack of work or slots. */
  nextLookMs(nowMs: number): number | undefined {
    if (this.#isStopping || this.#limits.isPaused || !this.mayHaveWork) return undefined
    if (nowMs < this.#closedUntilMs) return this.#closedUntilMs - nowMs
    if (this.#inFlight >= this.#window) return undefined
    const waitMs = this.#rate.waitMs(nowMs)
    return waitMs > 0 ? waitMs : undefined
  }

  /**
   * Of so many slots, those kept for the classes below: a tenth for single messages, a twentieth for deferred ones,
   * also when slots come one by one. A share that finds nothing to take it falls to whoever waits.
   */
  shares(slots: number): Shares {
    this.#singleDebt += slots / 10
    this.#deferredDebt += slots / 20
    const deferred = Math.min(slots, Math.floor(this.#deferredDebt))
    const single = Math.min(slots - deferred, Math.floor(this.#singleDebt))
    this.#deferredDebt -= deferred
    this.#singleDebt -= single
    return { single, deferred }
  }

  /** Slots that a claim under way may fill: nobody takes the lane for idle meanwhile. */
  reserve(slots: number): void {
    this.#inFlight += slots
  }

  /** The claim has ended: so many of the reserved slots were filled. */
  claimed(reserved: number, count: number): void {
    this.#rate.take(count)
    this.settled(reserved - count)
  }

  settled(count: number): void {
    this.#inFlight -= count
    if (this.#inFlight === 0) for (const wake of this.#idle.splice(0)) wake()
  }

  /** Resolves when nothing is in flight, or when the time is over. */
  async whenIdle(withinMs: number): Promise<void> {
    if (this.#inFlight === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs)
      this.#idle.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Runs after everything of the same key that was claimed before. */
  inOrder(key: string, work: () => Promise<void>): Promise<void> {
    const before = this.#tails.get(key)
    const run = before === undefined ? work() : before.then(work, work)
    const tail = run.finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    this.#tails.set(key, tail)
    return tail
  }

  /** An answer to what was handed over before the line last failed says nothing about the line now. */
  succeeded(startedAtMs: number): void {
    this.#doubts = 0
    if (startedAtMs < this.#closedAtMs) return
    this.#faults = 0
    this.#closedUntilMs = -Infinity
    this.#awaySinceMs = undefined
  }

  /** A person says that it is well again. */
  resume(): void {
    this.#closedAtMs = -Infinity
    this.succeeded(0)
  }

  /** The breaker: closed for longer with every fault in a row, or for as long as the provider asked. */
  backOff(nowMs: number, options: { askedMs?: number; isAway?: boolean } = {}): void {
    const { askedMs, isAway = false } = options
    if (isAway) this.#awaySinceMs ??= nowMs
    else this.#awaySinceMs = undefined
    // Many in flight fail together: one step, not one for each; but the longest wait that was asked for.
    if (nowMs >= this.#closedUntilMs) {
      this.#faults++
      this.#closedAtMs = nowMs
    } else if (askedMs === undefined) return
    const closedMs = Math.max(minClosedMs, askedMs ?? backoffMs(this.#faults, lineBackoff))
    this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + closedMs)
  }

  /** One without an answer may happen; several in a row, and the rest would be lost in doubt as well. */
  doubted(nowMs: number): void {
    this.#doubts++
    if (this.#faults > 0 || this.#doubts >= doubtsAllowed) this.backOff(nowMs, { isAway: true })
  }
}
