/**
 * A token bucket: `ratePerSecond` on average, a tenth of a second's worth at once. What a look that comes up to 50 ms
 * late has missed is kept on top, so that slow lines too reach their rate (a bucket of one would lose every delay).
 */
export class Rate {
  #perSecond: number
  #tokens: number
  #filledAtMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#tokens = this.#burst
    this.#filledAtMs = nowMs
  }

  get #burst(): number {
    return Math.max(1, this.#perSecond / 10)
  }

  change(perSecond: number, nowMs: number): void {
    this.#fill(nowMs)
    this.#perSecond = perSecond
    this.#tokens = Math.min(this.#tokens, this.#burst)
  }

  available(nowMs: number): number {
    this.#fill(nowMs)
    return Math.floor(Math.min(this.#tokens, this.#burst))
  }

  take(count: number): void {
    this.#tokens -= count
  }

  /** Milliseconds until one more may leave. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs)
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond)
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#filledAtMs)
    const full = this.#burst + this.#perSecond / 20
    this.#tokens = Math.min(full, this.#tokens + (passedMs * this.#perSecond) / 1000)
    this.#filledAtMs = nowMs
  }
}
