import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createOutbound, type Outbound } from '../lib/outbound/index.ts'
import type { FileRef } from '../domain/message.ts'
import type { ClaimedMessage } from '../store/outbox.ts'
import { collectFiles, createFileBudget, createRoom } from './collect-files.ts'

const size = 300_000
let outbound: Outbound
let host: string
const server = createServer((_request, response) => response.end(Buffer.alloc(size, 'x')))

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  outbound = createOutbound({ exceptions: { allows: () => true } })
})
afterAll(async () => {
  await outbound.close()
  server.close()
})

const fetched = (name: string): FileRef => ({
  name,
  mimeType: 'image/png',
  source: { kind: 'address', url: `${host}/${name}` },
})
const stored = (bytes: number): FileRef => ({
  name: 's.png',
  mimeType: 'image/png',
  source: { kind: 'stored', hash: '00', size: bytes },
})

const collect = (files: FileRef[], budget: ReturnType<typeof createFileBudget>) => {
  const room = createRoom(budget)
  onTestFinished(() => room.close())
  const message: ClaimedMessage = {
    messageId: '',
    companyId: '',
    lineId: '',
    contactId: '',
    priority: 1,
    epoch: 1,
    attempts: 1,
    isPinned: false,
    takenIds: null,
    expiresAt: new Date(),
    acceptedAt: new Date(),
    recipient: '',
    content: { kind: 'text', text: '', files },
  }
  return { room, files: collectFiles({ db: { query: async () => [] }, outbound }, message, room) }
}

test('files under way never hold more than the budget: what finds no room comes again', async () => {
  const budget = createFileBudget(2.5 * size)
  const taken = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const { room, files } = collect([fetched(`${index}.png`)], budget)
      const result = await files
      expect(budget.heldBytes).toBeLessThanOrEqual(budget.limitBytes)
      // One that is turned away gives back at once what it had.
      if (result === 'no_room') room.close()
      return { room, result }
    }),
  )
  const kept = taken.filter(({ result }) => result !== 'no_room')
  expect(kept.length).toBeLessThanOrEqual(2)
  expect(taken.length).toBeGreaterThan(kept.length)
  expect(budget.heldBytes).toBe(kept.length * size)
  for (const { room } of taken) room.close()
  expect(budget.heldBytes).toBe(0)
  expect(await collect([fetched('again.png')], budget).files).toMatchObject({ ok: true })
})

test('stored files count before they are read', async () => {
  const budget = createFileBudget(1_000)
  const { room } = collect([], budget)
  expect(room.hold(600)).toBe(true)
  expect(await collect([stored(500)], budget).files).toBe('no_room')
  room.close()
  // There is room now, so the store is asked, which has none.
  expect(await collect([stored(500)], budget).files).toMatchObject({ error: { code: 'file_missing' } })
})

test('a message whose own files will never fit fails instead of coming again', async () => {
  const budget = createFileBudget(1.5 * size)
  expect(await collect([fetched('a.png'), fetched('b.png')], budget).files).toMatchObject({
    error: { kind: 'invalid_message', code: 'files_too_large' },
  })
})
