/** Reports that arrive together are stored together: one call at a time, the next takes all that came meanwhile. */
export type Batcher<Item> = { add(item: Item): Promise<void> }

export function createBatcher<Item>(store: (items: Item[]) => Promise<void>, maxItems = 1000): Batcher<Item> {
  let waiting: { items: Item[]; stored: PromiseWithResolvers<void> }[] = []
  let isStoring = false

  async function storeAll(): Promise<void> {
    isStoring = true
    // What else this turn of the event loop brings goes along.
    await new Promise((resolve) => setImmediate(resolve))
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await store(next.items)
        next.stored.resolve()
      } catch (error) {
        next.stored.reject(error)
      }
    }
    waiting = []
    isStoring = false
  }

  return {
    add(item) {
      let last = waiting.at(-1)
      if (last === undefined || last.items.length >= maxItems) {
        last = { items: [], stored: Promise.withResolvers<void>() }
        waiting.push(last)
        if (!isStoring) void storeAll()
      }
      last.items.push(item)
      return last.stored.promise
    },
  }
}
