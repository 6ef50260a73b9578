import { describe, expect, test } from 'vitest'
import { request, type Answer } from '../../harness/http.ts'
import { expectAccepted, expectErrorBody, freshPhone, useUnified } from './support.ts'

const u = useUnified()
const c = () => u.company

describe('success', () => {
  test('is 200 with the id of the message, queued, and the request id', async () => {
    const answer = await c().send(c().sms())
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.body).toEqual({
      messageId: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      status: 'queued',
      requestId: answer.headers['x-request-id'],
    })
  })
})

describe('errors', () => {
  const calls: [string, number, string[], () => Promise<Answer>][] = [
    ['a bad field', 400, ['errors', 'message', 'requestId'], () => c().send(c().sms({ channel: 9 }))],
    [
      'an unknown template',
      400,
      ['errors', 'message', 'requestId'],
      () => c().send(c().sms({ templateName: 'x' })),
    ],
    ['no text', 400, ['message', 'requestId'], () => c().send(c().sms({ text: undefined }))],
    ['a refusal', 400, ['message', 'requestId'], () => c().send(c().whatsappText(freshPhone()))],
    ['malformed JSON', 400, ['message', 'requestId'], () => c().send('{"text": ')],
    ['no token', 401, ['message', 'requestId'], () => request(`${u.app.url}/v1/sendmessage`, { body: '{}' })],
    [
      'an unknown path',
      404,
      ['message', 'requestId'],
      () => request(`${u.app.url}/v1/nothing`, { body: '{}' }),
    ],
  ]
  test.for(calls)('%s: %i with the fields %j and no others', async ([, status, fields, call]) => {
    const answer = await call()
    expect(answer.status).toBe(status)
    expect(Object.keys(answer.body).toSorted()).toEqual(fields)
    expectErrorBody(answer)
  })

  test('errors maps each path to a list of sentences', async () => {
    const answer = await c().send(c().email({ destination: { email: 'x' }, emailSubject: 'a\nb' }))
    const errors = answer.body['errors'] as Record<string, unknown>
    expect(Object.keys(errors).toSorted()).toEqual(['destination.email', 'emailSubject'])
    for (const list of Object.values(errors))
      expect(list).toEqual(expect.arrayContaining([expect.any(String)]))
  })

  test('message names the field, so that it helps whoever logs it alone', async () => {
    expect((await c().send(c().sms({ channel: 9 }))).body['message']).toContain('channel')
  })
})

describe('500', () => {
  const broken = useUnified()

  test('is an internal error that says nothing of the inside; a send can be tried again', async () => {
    const { app, company } = broken
    await app.db.query('alter table contact rename to contact_away')
    const answer = await company.send(company.sms())
    await app.db.query('alter table contact_away rename to contact')
    expect(answer.status).toBe(500)
    expectErrorBody(answer)
    expect(answer.text).not.toMatch(/contact|relation|sql|select|insert|\.ts/i)
    expect(Object.keys(answer.body).toSorted()).toEqual(['message', 'requestId'])
    // The reason is for the log alone.
    const faults = app.logLines.filter((line) => line.includes('"level":50'))
    expect(faults.join('\n')).toMatch(/contact/)
    expectAccepted(await company.send(company.sms()))
  })
})
