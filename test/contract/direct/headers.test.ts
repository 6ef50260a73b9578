import { describe, expect, test } from 'vitest'
import { randomMobile } from '../../harness/factories.ts'
import {
  countMessages,
  emailBody,
  expectAccepted,
  expectConflicts,
  expectInvalid,
  smsBody,
  useDirect,
  whatsappBody,
} from './support.ts'

const d = useDirect({ nodes: 2 })
const c = () => d.company
let keys = 0
const newKey = () => `key-${++keys}-${Date.now()}`
const keyed = (key: string) => ({ headers: { 'Idempotency-Key': key } })
const dry = { headers: { 'Pombo-Dry-Run': 'true' } }

describe('Idempotency-Key', () => {
  test('same key and same body: the first answer again, ids alike, and no second message', async () => {
    const company = await d.newCompany()
    const body = smsBody()
    const key = newKey()
    const first = await company.send('sms', body, keyed(key))
    const again = await company.send('sms', body, { ...keyed(key), url: d.app.urls[1]! })
    expectAccepted(first)
    expectAccepted(again)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(again.headers['idempotency-replayed']).toBe('true')
    for (const header of ['pombo-message-id', 'x-request-id'])
      expect(again.headers[header]).toBe(first.headers[header])
    expect(await countMessages(d.app, company.id)).toBe(1)
  })

  test('also when they arrive at the same time on different nodes', async () => {
    const company = await d.newCompany()
    const body = smsBody()
    const key = newKey()
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        company.send('sms', body, { ...keyed(key), url: d.app.urls[index % 2]! }),
      ),
    )
    for (const answer of answers) expectAccepted(answer)
    expect(new Set(answers.map((answer) => answer.headers['pombo-message-id'])).size).toBe(1)
    expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === undefined)).toHaveLength(1)
    expect(await countMessages(d.app, company.id)).toBe(1)
  })

  test('same key, other body: 422, never 409', async () => {
    const key = newKey()
    const body = smsBody()
    expectAccepted(await c().send('sms', body, keyed(key)))
    expectInvalid(await c().send('sms', smsBody(), keyed(key)), 'Idempotency-Key')
    // The raw body counts: the same fields written otherwise are another body.
    expectInvalid(await c().send('sms', `${JSON.stringify(body)} `, keyed(key)), 'Idempotency-Key')
  })

  test('the scope is company and route', async () => {
    const key = newKey()
    const other = await d.newCompany()
    expectAccepted(await c().send('sms', smsBody(), keyed(key)))
    expectAccepted(await c().send('email', emailBody(), keyed(key)))
    expectAccepted(await c().send('whatsapp', whatsappBody(), keyed(key)))
    expectAccepted(await other.send('sms', smsBody(), keyed(key)))
  })

  test('200 without a sending service is kept as well', async () => {
    const company = await d.newCompany({ channels: [] })
    const body = smsBody()
    const key = newKey()
    const first = await company.send('sms', body, keyed(key))
    const again = await company.send('sms', body, keyed(key))
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.text).toBe(first.text)
    expect(again.headers['pombo-message-id']).toBe(first.headers['pombo-message-id'])
    expect(again.headers['idempotency-replayed']).toBe('true')
  })

  test('a refused one may be tried again with the same key', async () => {
    const key = newKey()
    expectInvalid(await c().send('sms', smsBody({ template_code: 'nobody' }), keyed(key)), 'template_code')
    expectConflicts(await c().send('sms', smsBody({ template_code: 'disabled' }), keyed(key)), /disabled/)
    expectAccepted(await c().send('sms', smsBody(), keyed(key)))
  })

  test.for(['a', '~'.repeat(255), '!"#$%&/()=?'])('any visible ASCII: %s', async (key) => {
    expectAccepted(await c().send('sms', smsBody(), keyed(key)))
  })

  test.for(['', ' ', 'a b', 'x'.repeat(256), 'Ã©', 'a\tb'])('another value is 422: %j', async (key) => {
    expectInvalid(await c().send('sms', smsBody(), keyed(key)), 'Idempotency-Key')
  })
})

describe('Pombo-Dry-Run', () => {
  test('everything is checked, the answer is that of a real call with a verdict, and nothing is stored', async () => {
    const company = await d.newCompany()
    const answer = await company.send('sms', smsBody(), dry)
    expect(answer.status).toBe(202)
    expect(answer.body).toEqual({
      result: 'message is being processed',
      verdict: [
        { rule: 'opt_out', passed: true },
        { rule: 'template_state', passed: true },
      ],
    })
    expect(answer.headers['pombo-message-id']).toBeUndefined()
    expect(await countMessages(d.app, company.id)).toBe(0)
    expect(await d.app.db.query('select 1 from contact where company_id = $1', [company.id])).toEqual([])
  })

  test('also on refusals', async () => {
    const conflict = await c().send('sms', smsBody({ template_code: 'disabled' }), dry)
    expectConflicts(conflict, 'template "Switched off" is disabled')
    expect(conflict.body['verdict']).toEqual([
      { rule: 'opt_out', passed: true },
      {
        rule: 'template_state',
        passed: false,
        reason: 'template "Switched off" is disabled',
        matched: 'Switched off',
      },
    ])
    for (const body of [smsBody({ template_code: 'nobody' }), {}, 'no json']) {
      const invalid = await c().send('sms', body, dry)
      expect(invalid.status).toBe(422)
      expect(invalid.body['verdict']).toEqual([])
    }
  })

  test('200 without a sending service', async () => {
    const company = await d.newCompany({ channels: [] })
    const answer = await company.send('sms', smsBody(), dry)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(['result', 'verdict'])
    expect(await countMessages(d.app, company.id)).toBe(0)
  })

  test('false is as if absent', async () => {
    expectAccepted(await c().send('sms', smsBody(), { headers: { 'Pombo-Dry-Run': 'false' } }))
  })

  test.for(['', 'yes', '1', 'TRUE', 'true,true'])('any other value is 422: %j', async (value) => {
    expectInvalid(await c().send('sms', smsBody(), { headers: { 'Pombo-Dry-Run': value } }), 'Pombo-Dry-Run')
  })

  test('idempotency records are neither read nor written', async () => {
    const key = newKey()
    const body = smsBody({ recipient_number: randomMobile() })
    const headers = { ...dry.headers, 'Idempotency-Key': key }
    expect((await c().send('sms', body, { headers })).status).toBe(202)
    const real = await c().send('sms', body, keyed(key))
    expectAccepted(real)
    expect(real.headers['idempotency-replayed']).toBeUndefined()
    const after = await c().send('sms', smsBody(), { headers })
    expect(after.status).toBe(202)
    expect(after.headers['idempotency-replayed']).toBeUndefined()
  })
})
