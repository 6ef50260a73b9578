/** Plain statistics over the pairs of a run. */
export const median = (values: readonly number[]): number => {
  if (values.length === 0) throw new Error('The median of nothing was asked for.')
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const spread = (values: readonly number[]): { min: number; max: number } => ({
  min: Math.min(...values),
  max: Math.max(...values),
})

/** The smallest value that at least this share of all values does not exceed; the values come sorted. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted.length === 0 ? 0 : sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!

/** Each value over the one measured beside it. */
export function ratios(values: readonly number[], baselines: readonly number[]): number[] {
  if (values.length !== baselines.length)
    throw new Error(`${values.length} values cannot be paired with ${baselines.length} baselines.`)
  return values.map((value, index) => value / baselines[index]!)
}

/** How much the last third of a series stands above its second: 1 is flat, the first third is the warm-up. */
export function growth(samples: readonly number[]): number {
  const third = Math.floor(samples.length / 3)
  if (third === 0) throw new Error('A series of fewer than three samples has no thirds.')
  return median(samples.slice(-third)) / median(samples.slice(third, samples.length - third))
}
