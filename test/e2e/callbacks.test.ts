/** Callbacks of real sends through the whole program: to the sandbox's catcher, and over the death of a worker. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Quickstart } from '../../src/flows/demo/quickstart.ts'
import { request, until } from '../harness/http.ts'
import { startProgram, type Program } from '../harness/program.ts'
import { startReceiver, verify, type Receiver } from '../contract/callbacks/support.ts'

type Channel = 'email' | 'sms' | 'whatsapp'
type Caught = { sequence: number; webhookId: string; verdict: string; body: string; answered: number }

let receiver: Receiver
let program: Program
let quickstart: Quickstart

beforeAll(async () => {
  receiver = await startReceiver()
  program = await startProgram({ env: { POMBO_OUTBOUND_EXCEPTIONS: `callbacks=${receiver.host}` } })
  quickstart = await program.quickstart()
})
afterAll(async () => {
  await program?.stop()
  await receiver?.close()
})

function send(channel: Channel, url: string) {
  const template = quickstart.templates.find((each) => each.channel === channel && each.kind === 'text')!
  const values = Object.fromEntries(template.variables.map((name) => [name, 'x']))
  const { headerVariable } = template
  const variables = headerVariable
    ? { header_key: headerVariable, header_value: 'x', body: values }
    : { body: values }
  return request(`${quickstart.direct.baseUrl}/v1/directmessage/${channel}`, {
    headers: { authorization: `Bearer ${quickstart.direct.token}` },
    body: {
      ...(channel === 'email'
        ? { recipient_email: 'maria@example.com' }
        : { recipient_number: '5531987651234' }),
      contract_code: 'C-1',
      template_code: template.code,
      ...(channel === 'whatsapp' ? { variables } : { variable_values: values }),
      callback_details: { url, custom_fields: { from: 'e2e' } },
    },
  })
}

async function caught(name: string): Promise<Caught[]> {
  const { body } = await request(`${quickstart.sandbox.url}/api/callbacks?name=${name}`)
  return (body['callbacks'] as Caught[]).toSorted((a, b) => a.sequence - b.sequence)
}

const typeOf = ({ body }: { body: string }) => (JSON.parse(body) as { type: string }).type

test.for([
  { channel: 'sms', events: ['message.sent', 'message.delivered'] },
  { channel: 'whatsapp', events: ['message.sent', 'message.delivered'] },
  { channel: 'email', events: ['message.sent'] },
] as const)('the sandbox catches what becomes of $channel, validly signed', async ({ channel, events }) => {
  const answer = await send(channel, `${quickstart.sandbox.url}/catch/${channel}`)
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 202 })
  const callbacks = await until(
    'the events',
    async () => {
      const found = await caught(channel)
      return found.length >= events.length && found
    },
    30_000,
  )
  expect(callbacks.map(typeOf).slice(0, events.length)).toEqual(events)
  for (const callback of callbacks) {
    expect(callback.verdict).toBe('valid')
    expect(JSON.parse(callback.body)).toMatchObject({
      data: { messageId: answer.headers['pombo-message-id'], channel, custom_fields: { from: 'e2e' } },
    })
  }
})

test('a receiver that fails at first and a worker that is killed: the event arrives, with the same id', async () => {
  receiver.answer = () => 503
  const answer = await send('sms', `${receiver.url}/again`)
  const [first] = await receiver.take('/again', 1)
  await program.kill('worker')
  receiver.answer = () => 200
  // 5 s later, or when the lease ends that the killed worker held.
  const again = await until('the next attempt', () => receiver.calls.find((call) => call !== first), 100_000)
  expect(again.text).toBe(first!.text)
  expect(again.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  expect(verify(quickstart.direct.callbackSecret, again)).toMatchObject({
    type: 'message.sent',
    data: { messageId: answer.headers['pombo-message-id'] },
  })
})
