import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { openInbox } from './inbox.ts'
import type { InboxOptions } from './inbox.ts'
import type { MessageDraft } from './types.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-inbox-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const open = (options: Partial<InboxOptions> = {}) =>
  openInbox({ clock: systemClock, log: silentLog, ...options })
const sms = (to: string, text = 'oi', id = to): MessageDraft => ({
  channel: 'sms',
  direction: 'toPerson',
  line: 'sandbox',
  from: '28000',
  to,
  text,
  providerIds: [id],
})

test('a restart keeps messages, sources, statuses and order; what was deleted stays deleted', async () => {
  const before = await open({ dataDir })
  const first = before.add(sms('+551'), Buffer.from([0, 255, 10, 13]))
  const second = before.add(sms('+552', 'olá'))
  const gone = before.add(sms('+553'))
  before.setStatus(second.id, { status: 'delivered' })
  before.setStatus(second.id, { status: 'sent' })
  before.remove([gone.id])
  await before.close()

  const after = await open({ dataDir })
  expect([...after.all()].map(({ id }) => id)).toEqual([first.id, second.id])
  expect(after.raw(first.id)).toEqual(Buffer.from([0, 255, 10, 13]))
  expect(after.byProviderId('+552')).toMatchObject({ text: 'olá', status: 'delivered' })
  expect(after.get(second.id)!.history.map(({ status }) => status)).toEqual(['accepted', 'delivered', 'sent'])
  expect(after.get(gone.id)).toBeUndefined()
  expect(after.add(sms('+554')).sequence).toBe(4)
  await after.close()
})

test('a line cut short by a crash costs only itself', async () => {
  const before = await open({ dataDir })
  before.add(sms('+551'))
  await before.close()
  await appendFile(join(dataDir, 'inbox.jsonl'), '{"kind":"add","mess')
  const after = await open({ dataDir })
  expect(after.counts().messages).toBe(1)
  await after.close()
})

test('the oldest leave when there are too many or too large ones, and the file stays bounded', async () => {
  const inbox = await open({ dataDir, maxMessages: 10, maxBytes: 20_000 })
  for (let count = 0; count < 500; count++) inbox.add(sms(`+55${count}`, 'x'.repeat(100)))
  await inbox.close()
  expect([...inbox.all()].map(({ to }) => to)).toEqual(
    Array.from({ length: 10 }, (_, index) => `+55${490 + index}`),
  )
  const { size } = await stat(join(dataDir, 'inbox.jsonl'))
  // Twice the bound, and at most one batch of lines over it.
  expect(size).toBeLessThan(500 * 600)
  const again = await open({ dataDir, maxMessages: 10, maxBytes: 20_000 })
  expect(again.counts().messages).toBe(10)
  again.add(sms('+551', 'y'.repeat(50_000)))
  expect(again.counts().messages).toBe(1)
  await again.close()
  expect((await stat(join(dataDir, 'inbox.jsonl'))).mode & 0o777).toBe(0o600)
})

test('writing anew while messages come in loses and doubles nothing', async () => {
  const inbox = await open({ dataDir, maxBytes: 30_000 })
  for (let round = 0; round < 30; round++) {
    for (let count = 0; count < 20; count++) {
      const message = inbox.add(sms(`+55${round * 20 + count}`))
      inbox.setStatus(message.id, { status: 'delivered' })
    }
    await new Promise(setImmediate)
  }
  const alive = [...inbox.all()].map(({ to, history }) => [to, history.length])
  await inbox.close()
  const again = await open({ dataDir, maxBytes: 30_000 })
  expect([...again.all()].map(({ to, history }) => [to, history.length])).toEqual(alive)
  await again.close()
  expect((await readFile(join(dataDir, 'inbox.jsonl'), 'utf8')).length).toBeGreaterThan(1_000)
})

test('waiting: for what is there, for what comes, for what never comes', async () => {
  const inbox = await open()
  inbox.add(sms('+5531', 'antes'))
  const { lastSequence } = inbox.counts()
  expect((await inbox.waitFor({ person: '5531' }, 0))?.text).toBe('antes')
  const next = inbox.waitFor({ person: '+55 31', after: lastSequence }, 5_000)
  inbox.add(sms('+5532', 'outra pessoa'))
  inbox.add(sms('+5531', 'depois'))
  expect((await next)?.text).toBe('depois')
  expect(await inbox.waitFor({ person: '+5533' }, 1)).toBeUndefined()
  const gone = new AbortController()
  const abandoned = inbox.waitFor({ person: '+5533' }, 60_000, gone.signal)
  gone.abort()
  expect(await abandoned).toBeUndefined()
  await inbox.close()
})

test('search looks into addresses, subject and text, newest first', async () => {
  const inbox = await open()
  inbox.add(sms('+551', 'Pedido 42 saiu'))
  inbox.add({ ...sms('ana@x.test'), channel: 'email', subject: 'PEDIDO 42' })
  inbox.add(sms('+552', 'nada'))
  expect(inbox.list({ search: 'pedido 42' }, 10).map(({ to }) => to)).toEqual(['ana@x.test', '+551'])
  expect(inbox.list({ search: 'ANA@' }, 10)).toHaveLength(1)
  expect(inbox.list({ channel: 'sms' }, 1).map(({ to }) => to)).toEqual(['+552'])
})

test('adding costs the same with a full inbox', async () => {
  const inbox = await open({ maxMessages: 20_000 })
  const secondsFor = (count: number) => {
    const start = process.hrtime.bigint()
    for (let index = 0; index < count; index++) inbox.add(sms(`+55${index}`))
    return Number(process.hrtime.bigint() - start)
  }
  secondsFor(2_000)
  const empty = secondsFor(2_000)
  secondsFor(30_000)
  // Twenty times would be the mark of a walk through the inbox; ten leaves room for a busy machine.
  expect(secondsFor(2_000)).toBeLessThan(empty * 10)
})
