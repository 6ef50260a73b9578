import { tmpdir } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { createDiskGuard, freeBytesAt } from './disk-space.ts'
import { silentLog } from './log.ts'

async function guardOf(measure: () => Promise<number>) {
  const guard = await createDiskGuard({ measure, minFreeBytes: 100, log: silentLog, everyMs: 1 })
  onTestFinished(() => guard.close())
  return guard
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error('Waited in vain.')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('a real disk has a size', async () => {
  expect(await freeBytesAt(tmpdir())).toBeGreaterThan(0)
  await expect(freeBytesAt('/no/such/folder')).rejects.toThrow(/ENOENT/)
})

test('low is known at once, and over when there is space again', async () => {
  let free = 99
  const guard = await guardOf(async () => free)
  expect(guard.isLow()).toBe(true)
  free = 100
  await until(() => !guard.isLow())
  free = 0
  await until(() => guard.isLow())
})

test('a disk that cannot be measured is not called low', async () => {
  let isBroken = false
  const guard = await guardOf(async () => {
    if (isBroken) throw new Error('EIO')
    return 1
  })
  expect(guard.isLow()).toBe(true)
  isBroken = true
  await until(() => !guard.isLow())
})
