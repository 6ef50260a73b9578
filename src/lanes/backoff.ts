/** Growing pauses with jitter, so that many who failed together do not come back together. */
export type BackoffOptions = { firstMs: number; maxMs: number; random?: () => number }

export function backoffMs(tries: number, { firstMs, maxMs, random = Math.random }: BackoffOptions): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(30, Math.max(0, tries - 1)))
  return Math.round(full * (0.75 + random() / 2))
}

/** A message's own retries: 5 s, 10 s, 20 s … up to 15 min apart. */
export const retryBackoff = { firstMs: 5_000, maxMs: 15 * 60_000 }

/** A line that cannot be reached: 1 s, 2 s … up to 1 min apart. */
export const lineBackoff = { firstMs: 1_000, maxMs: 60_000 }
