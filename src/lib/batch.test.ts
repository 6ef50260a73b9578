import { expect, test } from 'vitest'
import { createBatcher } from './batch.ts'
import { UnavailableError } from './unavailable.ts'

/** Batches that wait until they are told to answer. */
function heldBatches() {
  const batches: { items: number[]; answer(): void; fail(): void }[] = []
  const run = (items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      batches.push({
        items,
        answer: () => resolve(items.map((item) => `#${item}`)),
        fail: () => reject(new Error('failed')),
      })
    })
  return { batches, run }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what arrives while a batch is answered forms the next one, and each gets its own answer', async () => {
  const { batches, run } = heldBatches()
  const batcher = createBatcher({ run, maxBatch: 10, maxWaiting: 100 })
  const first = batcher.ask(1)
  await turn()
  const others = [2, 3, 4].map((item) => batcher.ask(item))
  await turn()
  expect(batches.map(({ items }) => items)).toEqual([[1]])
  expect(batcher.waiting).toBe(3)
  batches[0]!.answer()
  expect(await first).toBe('#1')
  await turn()
  expect(batches[1]!.items).toEqual([2, 3, 4])
  batches[1]!.answer()
  expect(await Promise.all(others)).toEqual(['#2', '#3', '#4'])
})

test('batches are bounded in size, in number and in those who wait', async () => {
  const { batches, run } = heldBatches()
  const batcher = createBatcher({ run, maxBatch: 2, maxWaiting: 5, batchesInFlight: 2 })
  const asked = [1, 2, 3, 4, 5].map((item) => batcher.ask(item))
  await expect(batcher.ask(6)).rejects.toBeInstanceOf(UnavailableError)
  await turn()
  await turn()
  expect(batches.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4],
  ])
  batches[1]!.answer()
  await turn()
  await turn()
  expect(batches[2]!.items).toEqual([5])
  for (const batch of batches) batch.answer()
  expect(await Promise.all(asked)).toHaveLength(5)
})

test('a failed batch fails its own items only', async () => {
  const { batches, run } = heldBatches()
  const batcher = createBatcher({ run, maxBatch: 10, maxWaiting: 10 })
  const failing = expect(batcher.ask(1)).rejects.toThrow('failed')
  await turn()
  const next = batcher.ask(2)
  batches[0]!.fail()
  await failing
  await turn()
  batches[1]!.answer()
  expect(await next).toBe('#2')
})
