import { describe, expect, test } from 'vitest'
import { connectRaw, request, until } from '../../harness/http.ts'
import { expectAccepted, expectErrorBody, useUnified } from '../unified/support.ts'

const u = useUnified()
const c = () => u.company
const mib = 1024 * 1024

/** A body of exactly this many bytes: a field that nobody knows fills it up. */
const sized = (body: object, bytes: number): Buffer => {
  const empty = Buffer.byteLength(JSON.stringify({ ...body, padding: '' }))
  return Buffer.from(JSON.stringify({ ...body, padding: 'x'.repeat(bytes - empty) }))
}

describe('bodies', () => {
  test('of 32 MiB are taken on the send route', async () => {
    const body = sized(c().sms(), 32 * mib)
    expect(body.length).toBe(32 * mib)
    expectAccepted(await c().send(body))
  })

  test('of one byte more are not: 400, nothing stored', async () => {
    const before = await c().traces()
    const answer = await c().send(sized(c().sms(), 32 * mib + 1))
    expect(answer.status).toBe(400)
    expectErrorBody(answer)
    expect(await c().traces()).toEqual(before)
  })

  test('too large, and sent in chunks without saying how large', async () => {
    const connection = await connectRaw(u.app.url)
    connection.write(
      `POST /v1/sendmessage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${c().accessToken}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const chunk = Buffer.concat([
      Buffer.from(`${(4 * mib).toString(16)}\r\n`),
      Buffer.alloc(4 * mib, 0x20),
      Buffer.from('\r\n'),
    ])
    for (let turn = 0; turn < 9; turn++) connection.write(chunk)
    expect((await connection.answer(20_000)).status).toBe(400)
    connection.close()
  })

  test('of 1 MiB are taken by login, one byte more is 400', async () => {
    const company = await u.newCompany()
    const logIn = (body: Buffer) => request(`${u.app.url}/v1/login`, { body })
    expect((await logIn(sized(company.credentials(), mib))).status).toBe(200)
    const answer = await logIn(sized(company.credentials(), mib + 1))
    expect(answer.status).toBe(400)
    expectErrorBody(answer)
  })

  test('a connection goes on after one that was too large', async () => {
    await c().send(sized(c().sms(), 32 * mib + 1))
    expectAccepted(await c().send(c().sms()))
  })
})

describe('limits are settings', () => {
  const small = useUnified({
    config: { maxSendBodyBytes: 20_000, maxBodyBytes: 2_000, maxBodiesInFlightBytes: 30_000 },
  })

  test('of the send route and of all others', async () => {
    const company = await small.newCompany()
    expectAccepted(await company.send(sized(company.sms(), 20_000)))
    expect((await company.send(sized(company.sms(), 20_001))).status).toBe(400)
    const logIn = (bytes: number) =>
      request(`${small.app.url}/v1/login`, { body: sized(company.credentials(), bytes) })
    expect((await logIn(2_001)).status).toBe(400)
    expect((await logIn(2_000)).status).toBe(200)
  })

  test('bytes of bodies in flight are bounded as a whole: past it 503 with Retry-After', async () => {
    const company = small.company
    const open = async () => {
      const connection = await connectRaw(small.app.url)
      connection.write(
        `POST /v1/sendmessage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${company.accessToken}\r\nContent-Type: application/json\r\nContent-Length: 18000\r\n\r\n${' '.repeat(17_000)}`,
      )
      return connection
    }
    const first = await open()
    const second = await open()
    // Whichever comes second is turned away, while the other is still being sent.
    const refused = await Promise.race([first.answer(), second.answer()])
    expect(refused.status).toBe(503)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expectErrorBody(refused)
    first.close()
    second.close()
  })

  test('and are given back', async () => {
    const company = small.company
    const isTaken = async () => (await company.send(sized(company.sms(), 19_000))).status === 200
    await until('the server has noticed that those two are gone', isTaken)
    for (let turn = 0; turn < 5; turn++) expectAccepted(await company.send(sized(company.sms(), 19_000)))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => company.send(company.sms({ voiceSettings: {} }))),
    )
    for (const answer of answers) expectAccepted(answer)
  })
})
