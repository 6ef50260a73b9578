/** Chance that can be had again: the same seed draws the same faults in the same order. */
export type Random = {
  /** From 0 up to, not including, 1. */
  next(): number
  between(min: number, max: number): number
  pick<T>(items: readonly T[]): T
  shuffle<T>(items: readonly T[]): T[]
}

/** mulberry32: 32 bits of state are plenty for choosing what to break. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (min, max) => min + next() * (max - min),
    pick: (items) => items[Math.floor(next() * items.length)]!,
    shuffle(items) {
      const left = [...items]
      for (let last = left.length - 1; last > 0; last--) {
        const other = Math.floor(next() * (last + 1))
        ;[left[last], left[other]] = [left[other]!, left[last]!]
      }
      return left
    },
  }
}
