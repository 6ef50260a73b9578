import { describe, expect, test } from 'vitest'
import { hashToken, newToken } from '../../../src/lib/secrets.ts'
import { newId } from '../../../src/lib/ids.ts'
import { connectRaw, request } from '../../harness/http.ts'
import { expectAccepted, expectErrorBody, expectInvalid, useUnified } from './support.ts'

const u = useUnified()

const sendAs = (authorization: string | undefined, body: unknown) =>
  request(`${u.app.url}/v1/sendmessage`, {
    method: 'POST',
    body,
    headers: authorization === undefined ? {} : { authorization },
  })

describe('the bearer token of the send route', () => {
  const wrong: [string, (token: string) => string | undefined][] = [
    ['missing', () => undefined],
    ['empty', () => ''],
    ['a bare scheme', () => 'Bearer'],
    ['a scheme and nothing', () => 'Bearer '],
    ['without scheme', (token) => token],
    ['under another scheme', (token) => `Basic ${token}`],
    ['one that was never issued', () => `Bearer ${newToken()}`],
    ['cut short', (token) => `Bearer ${token.slice(0, -1)}`],
    ['too long', (token) => `Bearer ${token}x`],
    ['in other case', (token) => `Bearer ${swapCase(token)}`],
    ['followed by more', (token) => `Bearer ${token} ${token}`],
  ]
  test.for(wrong)('%s: 401, and nothing is sent', async ([, header]) => {
    const before = await u.company.traces()
    const answer = await sendAs(header(u.company.accessToken), u.company.sms())
    expect(answer.status).toBe(401)
    expectErrorBody(answer)
    expect(answer.body['errors']).toBeUndefined()
    expect(await u.company.traces()).toEqual(before)
  })

  test.for(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('is taken under the scheme %s', async (scheme) => {
    expectAccepted(await sendAs(`${scheme} ${u.company.accessToken}`, u.company.sms()))
  })

  test('of another company is worth nothing here: the private token does not fit', async () => {
    const other = await u.newCompany()
    const answer = await sendAs(`Bearer ${other.accessToken}`, u.company.sms())
    expectInvalid(answer, 'platformPrivateToken')
  })

  test('is none of the tokens that belong elsewhere', async () => {
    const direct = newToken()
    await u.app.db.query(
      "insert into direct_token (id, company_id, name, hash) values ($1, $2, 'integration', $3)",
      [newId(), u.company.id, hashToken(direct)],
    )
    expect((await sendAs(`Bearer ${direct}`, u.company.sms())).status).toBe(401)
    expect((await sendAs(`Bearer ${u.company.privateToken}`, u.company.sms())).status).toBe(401)
  })

  test('is not taken from the query string or the body', async () => {
    const answer = await request(`${u.app.url}/v1/sendmessage?access_token=${u.company.accessToken}`, {
      body: { ...u.company.sms(), access_token: u.company.accessToken },
    })
    expect(answer.status).toBe(401)
  })

  test('of a user that was disabled since is 401', async () => {
    const company = await u.newCompany()
    expectAccepted(await company.send(company.sms()))
    await u.app.db.query('update app_user set disabled_at = now() where id = $1', [company.users.api.id])
    expect((await company.send(company.sms())).status).toBe(401)
  })

  test('of a company that was suspended since is still known, but sends nothing: 400', async () => {
    const company = await u.newCompany()
    await u.app.db.query('update company set suspended_at = now() where id = $1', [company.id])
    const before = await company.traces()
    const answer = await company.send(company.sms())
    expect(answer.status).toBe(400)
    expectErrorBody(answer)
    expect(await company.traces()).toEqual(before)
  })
})

describe('the token is judged before the body is looked at', () => {
  test.for([
    ['malformed JSON', '{"text":'],
    ['no text', '{}'],
    ['nothing', ''],
    ['another media type', 'text=1'],
  ] as const)('%s', async ([, body]) => {
    expect((await sendAs(undefined, body)).status).toBe(401)
  })

  test('even before it has arrived', async () => {
    const connection = await connectRaw(u.app.url)
    connection.write(
      'POST /v1/sendmessage HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{',
    )
    expect((await connection.answer()).status).toBe(401)
    connection.close()
  })

  test('and before its size', async () => {
    const connection = await connectRaw(u.app.url)
    connection.write(
      `POST /v1/sendmessage HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${40 * 1024 * 1024}\r\n\r\n{`,
    )
    expect((await connection.answer()).status).toBe(401)
    connection.close()
  })
})

const swapCase = (text: string) =>
  Array.from(text)
    .map((letter) => (letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()))
    .join('')
