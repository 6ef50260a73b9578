/** The presets of docs/sms-brokers.md against stand-ins that answer as the brokers document it. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { guardDriverTests, listen, openLine, testLine, testMessage, testText } from '../driver-test.ts'
import { checkSettings } from '../settings.ts'
import { smsHttp } from './index.ts'

guardDriverTests()

const text = readFileSync(new URL('../../../docs/sms-brokers.md', import.meta.url), 'utf8')
const presets = new Map(
  [...text.matchAll(/<!-- preset: (\w+) -->\s+```json\n([\s\S]+?)\n```/g)].map(([, name, json]) => [
    name!,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by the first test
    JSON.parse(json!) as Record<string, unknown>,
  ]),
)

test('all three are there and pass as settings', () => {
  expect([...presets.keys()]).toEqual(['vonage', 'infobip', 'zenvia'])
  for (const [name, settings] of presets)
    expect(checkSettings(smsHttp.settings, settings), name).toMatchObject({ ok: true })
})

type Sample = {
  name: string
  success: unknown
  id: string
  request(body: string, id: string): void
  failure: { status: number; body: unknown; kind: string; code: string }
  report(id: string): unknown
  inbound: unknown
}

const samples: Sample[] = [
  {
    name: 'vonage',
    success: { 'message-count': '1', messages: [{ to: '5531996883193', 'message-id': 'V1', status: '0' }] },
    id: 'V1',
    request(body, id) {
      expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
        api_key: 'YOUR-KEY',
        api_secret: 'YOUR-SECRET',
        from: '5511987654321',
        to: '5531996883193',
        text: 'Olá',
        'client-ref': id,
        callback: 'https://pombo.example/hooks/sms-http/lin_1?secret=A-LONG-RANDOM-SECRET',
        type: 'unicode',
        'message-class': '0',
      })
    },
    failure: {
      status: 200,
      body: { messages: [{ status: '4', 'error-text': 'Bad Credentials' }] },
      kind: 'misconfigured',
      code: '4',
    },
    report: (id) => ({
      msisdn: '5531996883193',
      messageId: 'V1',
      status: 'delivered',
      'err-code': '0',
      'client-ref': id,
    }),
    inbound: { msisdn: '5531996883193', to: '5511987654321', messageId: 'I1', text: 'PARE', type: 'text' },
  },
  {
    name: 'infobip',
    success: { messages: [{ messageId: 'B1', status: { groupId: 1, groupName: 'PENDING', id: 26 } }] },
    id: 'B1',
    request(body, id) {
      expect(JSON.parse(body)).toEqual({
        messages: [
          {
            sender: '5511987654321',
            destinations: [{ to: '5531996883193', messageId: id }],
            content: { text: 'Olá' },
          },
        ],
      })
    },
    failure: {
      status: 200,
      body: { messages: [{ status: { groupName: 'REJECTED', description: 'No prefix' } }] },
      kind: 'rejected',
      code: 'REJECTED',
    },
    report: () => ({
      results: [
        {
          messageId: 'B1',
          status: { groupId: 3, groupName: 'DELIVERED' },
          doneAt: '2026-11-15T01:02:03.000+0000',
        },
      ],
    }),
    inbound: { results: [{ messageId: 'I1', from: '5531996883193', text: 'PARE' }] },
  },
  {
    name: 'zenvia',
    success: { id: 'Z1', from: 'YOUR-SENDER', to: '5531996883193', direction: 'OUT' },
    id: 'Z1',
    request(body, id) {
      expect(JSON.parse(body)).toEqual({
        from: 'YOUR-SENDER',
        to: '5531996883193',
        contents: [{ type: 'text', text: 'Olá' }],
        externalId: id,
      })
    },
    failure: {
      status: 401,
      body: { code: 'AUTHENTICATION_ERROR', message: 'No authorization token' },
      kind: 'misconfigured',
      code: 'AUTHENTICATION_ERROR',
    },
    report: (id) => ({
      type: 'MESSAGE_STATUS',
      messageId: 'Z1',
      messageStatus: { timestamp: '2026-11-15T01:02:03Z', code: 'DELIVERED' },
      message: { id: 'Z1', externalId: id },
    }),
    inbound: {
      type: 'MESSAGE',
      message: { id: 'I1', from: '5531996883193', contents: [{ type: 'text', text: 'PARE' }] },
    },
  },
]

describe.each(samples)('$name', ({ name, success, id, request, failure, report, inbound }) => {
  const settings = presets.get(name)!
  const hook = (body: unknown, secret = 'A-LONG-RANDOM-SECRET') => {
    const url = `/hooks/sms-http/lin_1?secret=${secret}`
    return smsHttp.hook!(testLine(smsHttp, settings), {
      method: 'POST',
      url,
      publicUrl: `https://pombo.example${url}`,
      headers: { 'content-type': 'application/json' },
      rawBody: Buffer.from(JSON.stringify(body)),
    })
  }

  test('sends, and reads success and failure', async () => {
    const bodies: string[] = []
    let answer: { status: number; body: unknown } = { status: 200, body: success }
    const port = await listen(
      createServer((asked, response) => {
        const chunks: Buffer[] = []
        asked.on('data', (chunk: Buffer) => chunks.push(chunk))
        asked.on('end', () => {
          bodies.push(Buffer.concat(chunks).toString())
          response.writeHead(answer.status).end(JSON.stringify(answer.body))
        })
      }),
    )
    const { pathname } = new URL(String(settings.url))
    const line = openLine(smsHttp, { ...settings, url: `http://127.0.0.1:${port}${pathname}` })
    const message = testMessage({ content: testText('Olá', { isFlash: true }) })
    expect(await line.send(message)).toEqual({ ok: true, providerIds: [id] })
    request(bodies[0]!, message.id)
    answer = failure
    const { kind, code } = failure
    expect(await line.send(testMessage())).toMatchObject({ ok: false, error: { kind, code } })
  })

  test('reads receipts and messages of people, and believes no forged ones', () => {
    const ours = `msg_${'0'.repeat(32)}`
    expect(hook(report(ours))).toMatchObject({
      ok: true,
      reports: [{ kind: 'receipt', receipt: { providerId: id, state: 'delivered' } }],
    })
    expect(hook(inbound)).toMatchObject({
      ok: true,
      reports: [{ kind: 'inbound', message: { providerId: 'I1', from: '5531996883193', text: 'PARE' } }],
    })
    expect(hook(report(ours), 'guess')).toMatchObject({ ok: false, status: 401 })
  })
})
