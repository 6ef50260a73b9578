/** Faults that a caller gets over by trying again later; surfaces answer them with 503 or 429 and Retry-After. */

export class UnavailableError extends Error {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds = 1, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export class TooManyRequestsError extends Error {
  readonly retryAfterSeconds: number

  constructor(message: string, retryAfterSeconds: number) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}
