import { describe, expect, test } from 'vitest'
import { connectRaw, request, until, type Answer } from '../../harness/http.ts'
import { freshPhone, useUnified } from '../unified/support.ts'

const u = useUnified()
const c = () => u.company

const calls: [string, () => Promise<Answer>][] = [
  ['an accepted send', () => c().send(c().sms())],
  ['a refused send', () => c().send(c().whatsappText(freshPhone()))],
  ['a bad request', () => c().send(c().sms({ channel: 9 }))],
  ['malformed JSON', () => c().send('{')],
  ['no token', () => request(`${u.app.url}/v1/sendmessage`, { body: '{}' })],
  ['an unknown path', () => request(`${u.app.url}/nowhere`)],
  ['a wrong method', () => request(`${u.app.url}/v1/sendmessage`)],
  [
    'a refused login',
    () => request(`${u.app.url}/v1/login`, { body: { ...c().credentials(), Password: 'x' } }),
  ],
  ['a login of the wrong shape', () => request(`${u.app.url}/v1/login`, { body: {} })],
]

describe('every answer carries X-Request-Id', () => {
  test.for(calls)('%s, the same as in the body', async ([, call]) => {
    const answer = await call()
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/)
    expect(answer.body['requestId']).toBe(answer.headers['x-request-id'])
  })

  test('a login, whose body has no room for it', async () => {
    const answer = await request(`${u.app.url}/v1/login`, { body: (await u.newCompany()).credentials() })
    expect(answer.status).toBe(200)
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/)
  })

  test('what is no HTTP at all', async () => {
    const connection = await connectRaw(u.app.url)
    connection.write('GET / HTTP/9.9\r\nnonsense\r\n\r\n')
    const answer = await connection.answer()
    expect(answer.status).toBe(400)
    expect(answer.headers['x-request-id']).toBe(answer.body['requestId'])
    connection.close()
  })

  test('health and metrics', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics'])
      expect((await request(`${u.app.url}${path}`)).headers['x-request-id']).toMatch(/^req_/)
  })
})

test('no two requests share one', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => c().send(c().sms())))
  expect(new Set(answers.map((answer) => answer.headers['x-request-id'])).size).toBe(50)
})

test('it is ours: one that the caller sends is not taken over', async () => {
  const answer = await c().send(c().sms(), { 'x-request-id': 'req_of_the_caller' })
  expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/)
})

test('it is stored with the message', async () => {
  const answer = await c().send(c().sms())
  expect((await c().message(answer)).request_id).toBe(answer.headers['x-request-id'])
})

test.for(calls)('%s: it is in the log', async ([, call]) => {
  const before = u.app.logLines.length
  const answer = await call()
  await until(
    'a line of the log with the request id',
    () => u.app.logLines.slice(before).some((line) => line.includes(answer.headers['x-request-id']!)),
    1_000,
  )
})
