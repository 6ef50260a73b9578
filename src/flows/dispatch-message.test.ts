import { expect, test } from 'vitest'
import type { SendResult } from '../drivers/driver.ts'
import { driverErrorPolicies, type DriverErrorKind } from '../drivers/errors.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { createOutbound } from '../lib/outbound/index.ts'
import type { ClaimedMessage } from '../store/outbox.ts'
import { cleanResult } from './clean-result.ts'
import { createFileBudget } from './collect-files.ts'
import { dispatchMessage, settle } from './dispatch-message.ts'

const now = new Date('2026-11-15T12:00:00Z')
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)

const message = (changes: Partial<ClaimedMessage> = {}): ClaimedMessage => ({
  messageId: '01990000-0000-7000-8000-000000000001',
  companyId: '01990000-0000-7000-8000-000000000002',
  lineId: '01990000-0000-7000-8000-000000000003',
  contactId: '01990000-0000-7000-8000-000000000004',
  priority: 1,
  epoch: 7,
  attempts: 1,
  isPinned: false,
  takenIds: null,
  expiresAt: at(3_600),
  acceptedAt: at(-10),
  recipient: '5531999999999',
  content: { kind: 'text', text: 'Hello', files: [] },
  ...changes,
})

const failed = (kind: DriverErrorKind, more: object = {}): Extract<SendResult, { ok: false }> => ({
  ok: false,
  error: { kind, code: 'code', message: 'words', ...more },
})

const outcome = (result: SendResult, changes: Partial<ClaimedMessage> = {}) =>
  settle(message(changes), result, now, now)

test.each<[DriverErrorKind, string, string]>([
  ['misconfigured', 'queued', 'pauses'],
  ['unreachable', 'queued', 'backs_off'],
  ['throttled', 'queued', 'backs_off'],
  ['rejected', 'failed', 'works'],
  ['unreadable_reply', 'unknown', 'works'],
  ['opted_out', 'failed', 'works'],
  ['invalid_message', 'failed', 'works'],
  ['no_answer', 'unknown', 'doubts'],
])('%s: the message is %s, the line %s', (kind, state, effect) => {
  const settled = outcome(failed(kind))
  expect(settled).toMatchObject({ settlement: { state, epoch: 7, attempt: 1 }, effect: { kind: effect } })
  expect(settled.settlement.event).toMatchObject({
    kind: 'attempt',
    detail: { error: { kind, message: 'words' } },
  })
  expect(settled.settlement.is_opt_out).toBe(kind === 'opted_out')
})

test('the table above names every way to fail', () => {
  expect(Object.keys(driverErrorPolicies)).toHaveLength(8)
})

test('sent, or delivered where the peer is the end of the way', () => {
  expect(outcome({ ok: true, providerIds: ['a'] }).settlement).toMatchObject({
    state: 'sent',
    provider_ids: ['a'],
    latency_bucket: null,
  })
  const delivered = outcome({ ok: true, providerIds: ['a'], isDelivered: true }).settlement
  expect(delivered).toMatchObject({
    state: 'delivered',
    event: { kind: 'sent', detail: { isDelivered: true } },
  })
  expect(delivered.latency_bucket).toBeGreaterThan(0)
})

test("a provider's own time wins, also when it is past the expiry", () => {
  const asked = failed('throttled', { retryAfterMs: 90_000 })
  expect(outcome(asked).settlement.due_at).toEqual(at(90))
  expect(outcome(asked).effect).toMatchObject({ askedMs: 90_000, isAway: false })
  expect(outcome(asked, { expiresAt: at(60) }).settlement).toMatchObject({
    state: 'expired',
    error_message: 'words',
  })
})

test('our own pauses grow, but leave room for a last try before the expiry', () => {
  const dueAfter = (attempts: number, expiresAt: Date) =>
    (outcome(failed('unreachable'), { attempts, expiresAt }).settlement.due_at!.getTime() - now.getTime()) /
    1000
  expect(dueAfter(1, at(3_600))).toBeLessThan(7)
  expect(dueAfter(5, at(3_600))).toBeGreaterThan(59)
  expect(dueAfter(8, at(300))).toBe(295)
  expect(outcome(failed('unreachable'), { attempts: 8, expiresAt: at(9) }).settlement.state).toBe('expired')
})

test('throttled for one recipient: the line goes on', () => {
  expect(outcome(failed('throttled', { isRecipientOnly: true })).effect).toEqual({ kind: 'works' })
})

test('parts that were taken are kept for the next attempt', () => {
  const partly = { ...failed('throttled'), takenIds: ['a', null] }
  expect(outcome(partly).settlement.provider_ids).toEqual(['a', null])
  expect(outcome({ ...failed('throttled'), takenIds: [null, null] }).settlement.provider_ids).toEqual([])
})

test('what cannot be stored is mended', () => {
  const odd = cleanResult({
    ...failed('rejected', { code: 'a\0b', message: 'half \ud800 and \0' }),
    takenIds: [null, 'x\0'],
    exchange: { request: '\0', response: 'y'.repeat(100_000) },
  })
  expect(odd).toMatchObject({
    error: { code: 'ab', message: 'half \ufffd and ' },
    takenIds: [null, 'x'],
    exchange: { request: '', response: 'y'.repeat(8_192) },
  })
  expect(cleanResult({ ok: true, providerIds: [`\0${'z'.repeat(1_000)}`] })).toEqual({
    ok: true,
    providerIds: ['z'.repeat(254)],
  })
})

async function dispatch(changes: {
  db?: () => never
  mayHandOver?: boolean
  send?: () => Promise<SendResult>
  message?: ClaimedMessage
}) {
  let sends = 0
  const outbound = createOutbound({ exceptions: { allows: () => false } })
  const context = {
    clock: systemClock,
    log: silentLog,
    outbound,
    db: { query: changes.db ?? (async () => []) },
    fileBudget: createFileBudget(),
  }
  const session = {
    window: 1,
    health: () => ({ isUp: true, detail: '' }),
    close: async () => {},
    send: async () => {
      sends++
      return await (changes.send?.() ?? Promise.resolve({ ok: true as const, providerIds: ['a'] }))
    },
  }
  const live = message({ expiresAt: new Date(Date.now() + 60_000), ...changes.message })
  const result = await dispatchMessage(context, live, session, () => changes.mayHandOver ?? true)
  await outbound.close()
  return { ...result, sends }
}

const withFile: ClaimedMessage = message({
  expiresAt: new Date(Date.now() + 60_000),
  content: {
    kind: 'text',
    text: '',
    files: [{ name: 'a.pdf', mimeType: 'application/pdf', source: { kind: 'stored', hash: '00', size: 1 } }],
  },
})

test('a driver that throws leaves the outcome unknown', async () => {
  const thrown = await dispatch({ send: () => Promise.reject(new Error('a fault')) })
  expect(thrown.settlement).toMatchObject({ state: 'unknown', error_code: 'driver_fault' })
})

test('a lease that has run out hands nothing over: put back as it was, without a trace', async () => {
  const late = await dispatch({ mayHandOver: false })
  expect(late).toMatchObject({ sends: 0, settlement: { state: 'queued', due_at: null, event: null } })
})

test('files that the database cannot give now are asked for again; those that are gone fail', async () => {
  const away = await dispatch({
    message: withFile,
    db: () => {
      throw new Error('connection lost')
    },
  })
  expect(away).toMatchObject({
    sends: 0,
    settlement: { state: 'queued', event: null },
    effect: { kind: 'nothing' },
  })
  const gone = await dispatch({ message: withFile })
  expect(gone).toMatchObject({ sends: 0, settlement: { state: 'failed', error_code: 'file_missing' } })
})

test('what has expired is not handed over', async () => {
  const expired = await dispatch({ message: message({ expiresAt: new Date(0) }) })
  expect(expired).toMatchObject({ sends: 0, settlement: { state: 'expired', error_code: 'expired' } })
})
