import http from 'node:http'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { request } from '../../harness/http.ts'
import { expectAccepted, expectErrorBody, useUnified } from '../unified/support.ts'

const u = useUnified()

describe('the unified API', () => {
  test('is served at the root, under /v1', async () => {
    expect((await request(`${u.app.url}/v1/login`, { body: u.company.credentials() })).status).toBe(200)
    const company = await u.newCompany()
    expectAccepted(await company.send(company.sms()))
  })

  test.for([
    '/',
    '/v1',
    '/v1/',
    '/login',
    '/sendmessage',
    '/v2/login',
    '/v2/sendmessage',
    '/v1/login/',
    '/v1/sendmessage/',
    '/v1/sendmessage/1',
    '/v1/send-message',
    '//v1/login',
    '/v1/%',
  ])('POST %s is an unknown path: 404', async (path) => {
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { port } = new URL(u.app.url)
      const call = http.request({ host: '127.0.0.1', port, path, method: 'POST' }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () => resolve({ status: response.statusCode!, text }))
      })
      call.on('error', reject)
      call.end('{}')
    })
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.text)).toEqual({ message: expect.any(String), requestId: expect.any(String) })
  })

  test.for(
    ['/v1/login', '/v1/sendmessage'].flatMap((path) =>
      ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map((method) => [method, path] as const),
    ),
  )('%s %s is a wrong method: 404', async ([method, path]) => {
    const answer = await request(`${u.app.url}${path}`, { method })
    expect(answer.status).toBe(404)
    if (method !== 'HEAD') expectErrorBody(answer)
  })

  test('a query string changes nothing', async () => {
    const company = await u.newCompany()
    const answer = await request(`${u.app.url}/v1/sendmessage?x=1&text=2`, {
      body: company.sms(),
      headers: { authorization: `Bearer ${company.accessToken}` },
    })
    expectAccepted(answer)
  })
})

describe('where it listens', () => {
  test('on loopback unless told otherwise', () => {
    expect(readConfig({}).host).toBe('127.0.0.1')
    expect(readConfig({ POMBO_HOST: '0.0.0.0' }).host).toBe('0.0.0.0')
  })
})

describe("the caller's address", () => {
  const behind = useUnified({ config: { trustedProxies: ['127.0.4.0/24'] } })
  const logIn = (
    company: typeof u.company,
    right: boolean,
    from: string,
    forwardedFor: string,
    app = behind.app,
  ) =>
    request(`${app.url}/v1/login`, {
      body: { ...company.credentials(), ...(!right && { Password: 'wrong' }) },
      from,
      headers: { 'x-forwarded-for': forwardedFor },
    })

  test("is the socket's: X-Forwarded-For of nobody in particular is not believed", async () => {
    const company = await u.newCompany()
    for (let turn = 0; turn < 10; turn++) await logIn(company, false, '127.0.5.1', `203.0.113.${turn}`, u.app)
    expect((await logIn(company, true, '127.0.5.1', '203.0.113.99', u.app)).status).toBe(429)
  })

  test('is that of X-Forwarded-For behind a trusted proxy', async () => {
    const company = await behind.newCompany()
    for (let turn = 0; turn < 10; turn++) await logIn(company, false, '127.0.4.1', '203.0.113.5')
    expect((await logIn(company, true, '127.0.4.2', '203.0.113.5')).status).toBe(429)
    expect((await logIn(company, true, '127.0.4.1', '203.0.113.6')).status).toBe(200)
  })

  test('is not what a caller writes in front of what the proxy added', async () => {
    const company = await behind.newCompany()
    for (let turn = 0; turn < 10; turn++)
      await logIn(company, false, '127.0.4.1', `198.51.100.${turn}, 203.0.113.7`)
    expect((await logIn(company, true, '127.0.4.1', '198.51.100.200, 203.0.113.7')).status).toBe(429)
  })
})
