/** At most so many at a time; the others wait in the order in which they came. */
export type Slots = { tryTake(): boolean; take(): Promise<void>; give(): void }

export function createSlots(count: number): Slots {
  let free = count
  let waiting: (() => void)[] = []
  let first = 0
  return {
    tryTake() {
      if (free === 0) return false
      free--
      return true
    },
    take: () =>
      new Promise((resolve) => {
        if (free > 0) {
          free--
          resolve()
        } else waiting.push(resolve)
      }),
    give() {
      const next = waiting[first]
      if (next === undefined) {
        free++
        return
      }
      // Taken from the front without moving the rest, which `shift` does on long queues.
      first++
      if (first > 1024 && first * 2 > waiting.length) {
        waiting = waiting.slice(first)
        first = 0
      }
      next()
    },
  }
}
