import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { startApp } from '../../harness/app.ts'
import { request } from '../../harness/http.ts'
import { expectAccepted, smsBody } from './support.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('a setting gives the direct API its own port; it is then 404 on the main one, and the others are 404 there', async () => {
  const directPort = await freePort()
  const app = await startApp({ config: { directPort } })
  try {
    const company = await app.makeCompany()
    const options = { body: smsBody(), headers: { authorization: `Bearer ${company.directToken.token}` } }
    const [node] = app.nodes
    expect(node!.directUrl).toBe(`http://127.0.0.1:${directPort}`)
    expectAccepted(await request(`${node!.directUrl}/v1/directmessage/sms`, options))
    expect((await request(`${app.url}/v1/directmessage/sms`, options)).status).toBe(404)
    expect((await request(`${node!.directUrl}/v1/login`, { body: {} })).status).toBe(404)
    expect((await request(`${app.url}/v1/login`, { body: {} })).status).toBe(400)
  } finally {
    await app.stop()
  }
})

test('429 with Retry-After past a configured limit per token, with message and requestId', async () => {
  const app = await startApp({ config: { rateLimits: { perCompany: 0, perToken: 1, perAddress: 0 } } })
  try {
    const company = await app.makeCompany()
    const send = () =>
      request(`${app.url}/v1/directmessage/sms`, {
        body: smsBody(),
        headers: { authorization: `Bearer ${company.directToken.token}` },
      })
    const answers = await Promise.all(Array.from({ length: 6 }, send))
    const limited = answers.find((answer) => answer.status === 429)
    expect(limited).toBeDefined()
    expect(Object.keys(limited!.body)).toEqual(['message', 'requestId'])
    expect(Number(limited!.headers['retry-after'])).toBeGreaterThan(0)
  } finally {
    await app.stop()
  }
})

test('503 with Retry-After without a database, with message and requestId', async () => {
  const app = await startApp({ hasProxy: true, patienceMs: 200 })
  try {
    const company = await app.makeCompany()
    await app.proxy.close()
    const answer = await request(`${app.url}/v1/directmessage/sms`, {
      body: smsBody(),
      headers: { authorization: `Bearer ${company.directToken.token}` },
    })
    expect(answer.status).toBe(503)
    expect(Object.keys(answer.body)).toEqual(['message', 'requestId'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  } finally {
    await app.stop()
  }
})
