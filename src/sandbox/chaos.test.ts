import { expect, test } from 'vitest'
import { createChaos } from './chaos.ts'
import { createWebhookSender } from './graph/webhooks.ts'
import { callGraph, startReceiver, startTestSandbox, until } from './testing.ts'

const rough = {
  sms: {
    latency: { kind: 'lognormal', medianMs: 100, sigma: 1 },
    errors: [
      { code: 0x58, rate: 0.2 },
      { code: 0x14, rate: 0.1 },
    ],
    dropBeforeRate: 0.1,
    dropAfterRate: 0.1,
    receipts: { lostRate: 0.2, lateRate: 0.2, repeatedRate: 0.2, outOfOrderRate: 0.2 },
  },
}
const people = Array.from({ length: 2_000 }, (_, index) => `5531${index}`)

test('the same seed and dials give every message the same fate, whoever overtakes whom', () => {
  const [one, two, other] = [createChaos(7), createChaos(7), createChaos(8)]
  for (const chaos of [one, two, other]) expect(chaos.set(rough)).toEqual({ ok: true })
  const first = new Map(people.map((person) => [person, [one.fate('sms', person), one.fate('sms', person)]]))
  const second = new Map(people.toReversed().map((person) => [person, [two.fate('sms', person)]]))
  for (const person of people) second.get(person)!.push(two.fate('sms', person))
  for (const person of people) expect(second.get(person)).toEqual(first.get(person))
  expect(people.map((person) => other.fate('sms', person))).not.toEqual(
    people.map((person) => first.get(person)![0]),
  )
  one.set({})
  expect(one.fate('sms', people[0]!)).toEqual(first.get(people[0]!)![0])
})

test('rates are what the dials say', () => {
  const chaos = createChaos(1)
  chaos.set(rough)
  const fates = people.map((person) => chaos.fate('sms', person))
  const share = (is: (fate: (typeof fates)[number]) => boolean) => fates.filter(is).length / fates.length
  expect(share((fate) => fate.errorCode === 0x58)).toBeCloseTo(0.2, 1)
  expect(share((fate) => fate.errorCode === 0x14)).toBeCloseTo(0.1, 1)
  expect(share((fate) => fate.isDroppedBefore)).toBeCloseTo(0.1, 1)
  expect(share((fate) => fate.isOutOfOrder)).toBeCloseTo(0.2, 1)
  expect(share((fate) => fate.latencyMs < 100)).toBeCloseTo(0.5, 1)
  // A receipt is there unless lost (0.8); a fifth of those twice.
  expect(fates.reduce((sum, fate) => sum + fate.receipts.length, 0) / fates.length).toBeCloseTo(
    2 * 0.8 * 1.2,
    0,
  )
})

test('turning one dial leaves what the others draw', () => {
  const [calm, slow] = [createChaos(3), createChaos(3)]
  calm.set({ sms: { errors: [{ code: 8, rate: 0.3 }] } })
  slow.set({ sms: { errors: [{ code: 8, rate: 0.3 }], latency: { kind: 'uniform', minMs: 1, maxMs: 9 } } })
  const codes = (chaos: typeof calm) =>
    people.slice(0, 200).map((person) => chaos.fate('sms', person).errorCode)
  expect(codes(slow)).toEqual(codes(calm))
})

test.each([
  [{ fax: {} }, 'fax'],
  [{ seed: 1.5 }, 'seed'],
  [{ sms: 1 }, 'sms'],
  [{ sms: { dropAfterRate: 2 } }, 'sms.dropAfterRate'],
  [{ sms: { receipts: { lostRate: -1 } } }, 'sms.receipts.lostRate'],
  [{ sms: { errors: [{ code: 'x', rate: 1 }] } }, 'sms.errors.0.code'],
  [[], 'body'],
])('a wrong dial is named and nothing changes: %j', (change, field) => {
  const chaos = createChaos(1)
  const before = chaos.settings()
  expect(chaos.set(change)).toMatchObject({ ok: false, field })
  expect(chaos.settings()).toEqual(before)
})

test('receipts over the wire: lost, never, repeated, late failure, out of order', async () => {
  const receiver = await startReceiver()
  const phone = { id: '1', number: '+5531955550001' }
  const sandbox = await startTestSandbox({ graph: { webhookUrl: receiver.url, phoneNumbers: [phone] } })
  const send = async (to: string): Promise<string> => {
    sandbox.openWindow('1', to)
    const message = { messaging_product: 'whatsapp', to, type: 'text', text: { body: 'x' } }
    return (await callGraph(sandbox, '/1/messages', 'POST', message)).body.messages[0].id
  }
  const told = (id: string, count: number) =>
    until(() => {
      const mine = receiver
        .statuses()
        .filter((status) => status.id === id)
        .map((status) => String(status.status))
      return mine.length >= count ? mine : undefined
    })
  const dial = (receipts: object, more: object = {}) => sandbox.setChaos({ whatsapp: { receipts, ...more } })

  dial({ repeatedRate: 1 })
  const twice = await told(await send('5531944440001'), 4)
  expect(twice.toSorted()).toEqual(['delivered', 'delivered', 'sent', 'sent'])
  dial({ repeatedRate: 0, outOfOrderRate: 1 })
  expect(await told(await send('5531944440002'), 2)).toEqual(['delivered', 'sent'])
  dial({ outOfOrderRate: 0 }, { lateErrors: [{ code: 131049, rate: 1 }] })
  const failed = await send('5531944440003')
  expect(await told(failed, 2)).toEqual(['sent', 'failed'])
  expect(
    receiver.statuses().find((status) => status.id === failed && status.status === 'failed').errors[0].code,
  ).toBe(131049)
  dial({ isNever: true }, { lateErrors: [] })
  const never = await send('5531944440004')
  dial({ isNever: false, lostRate: 1 })
  const lost = await send('5531944440005')
  dial({ lostRate: 0, lateRate: 1, lateByMs: 40 })
  expect(await told(await send('5531944440006'), 2)).toEqual(['sent', 'delivered'])
  expect(receiver.statuses().filter((status) => status.id === never || status.id === lost)).toEqual([])
  await sandbox.stop()
  await receiver.stop()
})

test('webhooks go to loopback only, unless a host is named', async () => {
  const facts = { wabaId: '1', appSecret: 's', verifyToken: 'v', clock: { now: () => new Date() } }
  const log = { info() {}, warn() {}, error() {} }
  const sender = createWebhookSender({ ...facts, log, isAllowed: () => false, retryMs: 1 })
  sender.send('http://192.0.2.1/', { field: 'messages', value: {} })
  await sender.idle()
  expect(sender.attempts()[0]?.status).toContain('not on loopback')
})
