/** A token bucket: `ratePerSecond` on average, a tenth of a second's worth at once. */
export class Rate {
  #perSecond: number
  #tokens: number
  #filledAtMs: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#tokens = this.#size
    this.#filledAtMs = nowMs
  }

  get #size(): number {
    return Math.max(1, this.#perSecond / 10)
  }

  change(perSecond: number, nowMs: number): void {
    this.available(nowMs)
    this.#perSecond = perSecond
    this.#tokens = Math.min(this.#tokens, this.#size)
  }

  available(nowMs: number): number {
    const passedMs = Math.max(0, nowMs - this.#filledAtMs)
    this.#tokens = Math.min(this.#size, this.#tokens + (passedMs * this.#perSecond) / 1000)
    this.#filledAtMs = nowMs
    return Math.floor(this.#tokens)
  }

  take(count: number): void {
    this.#tokens -= count
  }

  /** Milliseconds until one more may leave. */
  waitMs(nowMs: number): number {
    this.available(nowMs)
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond)
  }
}
