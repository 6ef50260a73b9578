import { describe, expect, test } from 'vitest'
import { must } from '../../harness/factories.ts'
import { connectRaw, request } from '../../harness/http.ts'
import {
  createDirectToken,
  renewDirectToken,
  revokeDirectToken,
} from '../../../src/store/direct-tokens-admin.ts'
import { bodies, countMessages, expectAccepted, expectEmpty, smsBody, useDirect } from './support.ts'

const d = useDirect({ nodes: 2, config: { trustedProxies: ['127.0.0.9'] } })
const c = () => d.company
const token = () => c().directToken.token

describe('the token is sent as a header value of the form Bearer <TOKEN>', () => {
  test.for(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('%s, without regard to case', async (scheme) => {
    expectAccepted(await c().send('sms', smsBody(), { headers: { authorization: `${scheme} ${token()}` } }))
  })

  test.for<[string, () => Record<string, string | string[]>]>([
    ['no header', () => ({ authorization: [] })],
    ['an empty header', () => ({ authorization: '' })],
    ['the scheme alone', () => ({ authorization: 'Bearer' })],
    ['the scheme and spaces', () => ({ authorization: 'Bearer   ' })],
    ['the token alone', () => ({ authorization: token() })],
    ['another scheme', () => ({ authorization: `Basic ${token()}` })],
    ['an unknown token', () => ({ authorization: `Bearer ${'a'.repeat(43)}` })],
    ['the token and more', () => ({ authorization: `Bearer ${token()} x` })],
    ['the token with a letter more', () => ({ authorization: `Bearer ${token()}x` })],
    ['the token in another case', () => ({ authorization: `Bearer ${token().toUpperCase()}` })],
    ['the token in quotes', () => ({ authorization: `Bearer "${token()}"` })],
    ['two tokens', () => ({ authorization: `Bearer ${token()}, Bearer ${token()}` })],
    ['a very long token', () => ({ authorization: `Bearer ${'a'.repeat(8000)}` })],
    ['bytes outside ASCII', () => ({ authorization: 'Bearer tÃ©' })],
    ['a quote of SQL', () => ({ authorization: "Bearer ' or 1=1 --" })],
    ['the token in another header', () => ({ authorization: [], 'x-api-key': token() })],
  ])('a failed authentication answers 401 with no body: %s', async ([, headers]) => {
    expectEmpty(await c().send('sms', smsBody(), { headers: headers() }), 401)
  })

  test("an API user's token of the other API is none here", async () => {
    expectEmpty(await c().send('sms', smsBody(), { token: c().privateToken }), 401)
  })

  test('401 comes before the body is looked at, whatever is in it', async () => {
    for (const body of ['', 'no json', '[]', '{"recipient_number":1}'])
      expectEmpty(await c().send('sms', body, { token: 'wrong' }), 401)
  })

  test('401 comes before a byte of the body is read', async () => {
    const raw = await connectRaw(d.app.url)
    raw.write(
      'POST /v1/directmessage/sms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        'Content-Length: 1000\r\nAuthorization: Bearer wrong\r\n\r\n',
    )
    expect((await raw.answer()).status).toBe(401)
    raw.close()
  })

  test('a refused caller leaves no message behind', async () => {
    const company = await d.newCompany()
    await company.send('sms', smsBody(), { token: 'wrong' })
    expect(await countMessages(d.app, company.id)).toBe(0)
  })
})

describe('renewing the token invalidates the previous one', () => {
  test('on every node at once, and the new one works on all', async () => {
    const company = await d.newCompany()
    for (const url of d.app.urls) expectAccepted(await company.send('sms', smsBody(), { url }))
    const renewed = (await renewDirectToken(d.app.db, company.id, company.directToken.id, new Date()))!
    for (const url of d.app.urls) {
      expectEmpty(await company.send('sms', smsBody(), { url }), 401)
      expectAccepted(await company.send('sms', smsBody(), { url, token: renewed.token }))
    }
  })

  test('a revoked one is 401', async () => {
    const company = await d.newCompany()
    await revokeDirectToken(d.app.db, company.id, company.directToken.id, new Date())
    expectEmpty(await company.send('sms', smsBody()), 401)
  })
})

describe('403 with an empty body: the token is right, but', () => {
  test('the company is suspended', async () => {
    const company = await d.newCompany()
    await d.app.db.query('update company set suspended_at = now() where id = $1', [company.id])
    expectEmpty(await company.send('sms', smsBody()), 403)
    expectEmpty(await company.send('sms', 'no json'), 403)
    expectEmpty(await company.send('sms', smsBody(), { headers: { 'Pombo-Dry-Run': 'true' } }), 403)
    expect(await countMessages(d.app, company.id)).toBe(0)
  })

  test('the token is not for this channel', async () => {
    const smsOnly = must(await createDirectToken(d.app.db, c().id, { name: 'sms only', channels: ['sms'] }))
    expectAccepted(await c().send('sms', bodies.sms(), { token: smsOnly.token }))
    for (const channel of ['email', 'whatsapp'] as const)
      expectEmpty(await c().send(channel, bodies[channel](), { token: smsOnly.token }), 403)
  })

  test("the caller's address is not on the token's allow list", async () => {
    const fenced = must(
      await createDirectToken(d.app.db, c().id, {
        name: 'fenced',
        allowedAddresses: ['127.0.0.2', '127.0.1.0/24', '2001:db8::/32'],
      }),
    )
    for (const from of ['127.0.0.2', '127.0.1.1', '127.0.1.254'])
      expectAccepted(await c().send('sms', smsBody(), { token: fenced.token, from }))
    for (const from of ['127.0.0.1', '127.0.0.3', '127.0.2.1'])
      expectEmpty(await c().send('sms', smsBody(), { token: fenced.token, from }), 403)
  })

  test('X-Forwarded-For counts from a trusted proxy only', async () => {
    const fenced = must(
      await createDirectToken(d.app.db, c().id, { name: 'behind', allowedAddresses: ['203.0.113.7'] }),
    )
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    expectAccepted(await c().send('sms', smsBody(), { token: fenced.token, from: '127.0.0.9', headers }))
    expectEmpty(await c().send('sms', smsBody(), { token: fenced.token, from: '127.0.0.8', headers }), 403)
  })
})

describe('unknown path or method: 404 with message and requestId', () => {
  test.for<[string, string]>([
    ['GET', '/v1/directmessage/sms'],
    ['PUT', '/v1/directmessage/sms'],
    ['DELETE', '/v1/directmessage/email'],
    ['POST', '/v1/directmessage'],
    ['POST', '/v1/directmessage/'],
    ['POST', '/v1/directmessage/fax'],
    ['POST', '/v1/directmessage/sms/'],
    ['POST', '/v2/directmessage/sms'],
    ['POST', '/directmessage/sms'],
    ['POST', '/v1/directmessage/sms/1'],
    ['POST', '/v1/DirectMessage/sms'],
  ])('%s %s', async ([method, path]) => {
    const answer = await request(`${d.app.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token()}` },
      ...(method === 'GET' ? {} : { body: smsBody() }),
    })
    expect(answer.status).toBe(404)
    expect(Object.keys(answer.body)).toEqual(['message', 'requestId'])
    expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
  })
})
