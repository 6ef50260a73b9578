import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bindForeign, connectForeign } from './foreign-smpp.ts'
import type { ForeignClient } from './foreign-smpp.ts'
import type { Sandbox } from './sandbox.ts'
import { callApi, startTestSandbox, until } from './testing.ts'
import type { Loose } from './testing.ts'

let sandbox: Sandbox
let client: ForeignClient
beforeAll(async () => {
  sandbox = await startTestSandbox({ smpp: { retryMs: 1 } })
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  client = await connectForeign(sandbox)
  expect((await bindForeign(client, sandbox)).command_status).toBe(0)
})
afterEach(() => client.close())

const submit = (to: string, fields: object) =>
  client.send('submit_sm', {
    source_addr: '28000',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: to,
    data_coding: 0,
    registered_delivery: 1,
    ...fields,
  })
const shownTo = async (to: string): Promise<Loose> =>
  (await callApi(sandbox, `/api/messages/wait?to=${to}&channel=sms`)).body
const receiptFor = (id: string) =>
  until(() => client.delivered.find((pdu) => pdu.receipted_message_id === id))

test('the smpp package alone sends a text; the receipt tells it delivered by TLV and by text', async () => {
  const answer = await submit('5531977770001', { short_message: Buffer.from('Seu codigo: 1234', 'latin1') })
  expect(answer.command_status).toBe(0)
  expect(await shownTo('+5531977770001')).toMatchObject({
    from: '28000',
    text: 'Seu codigo: 1234',
    providerIds: [answer.message_id],
    sms: { encoding: 'gsm7', parts: 1, isFlash: false, how: 'single', wantsReceipt: true },
  })
  const receipt = await receiptFor(answer.message_id)
  expect(receipt).toMatchObject({
    esm_class: 4,
    message_state: 2,
    source_addr: '5531977770001',
    destination_addr: '28000',
  })
  expect(String(receipt.short_message.message)).toMatch(
    new RegExp(
      `^id:${answer.message_id} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:Seu codigo: 1234$`,
    ),
  )
  await until(async () => ((await shownTo('5531977770001')).status === 'delivered' ? true : undefined))
})

test('UCS-2 and flash are read as such', async () => {
  await submit('5531977770002', {
    data_coding: 0x18,
    short_message: Buffer.from('Promoção já!', 'utf16le').swap16(),
  })
  expect(await shownTo('5531977770002')).toMatchObject({
    text: 'Promoção já!',
    sms: { encoding: 'ucs2', isFlash: true },
  })
  await submit('5531977770003', { dest_addr_subunit: 1, short_message: Buffer.from('oi') })
  expect(await shownTo('5531977770003')).toMatchObject({ sms: { encoding: 'gsm7', isFlash: true } })
})

test.each([
  [
    'udh',
    (part: number, text: string) => ({
      esm_class: 0x40,
      short_message: Buffer.concat([Buffer.from([5, 0, 3, 7, 3, part]), Buffer.from(text)]),
    }),
  ],
  [
    'sar',
    (part: number, text: string) => ({
      sar_msg_ref_num: 9,
      sar_total_segments: 3,
      sar_segment_seqnum: part,
      short_message: Buffer.from(text),
    }),
  ],
])(
  'parts by %s come in any order and are one message, each with an id and a receipt of its own',
  async (how, fields) => {
    const to = how === 'udh' ? '5531977770004' : '5531977770005'
    const answers = [
      await submit(to, fields(3, 'fim')),
      await submit(to, fields(1, 'a'.repeat(150))),
      await submit(to, fields(2, 'b')),
    ]
    const message = await shownTo(to)
    expect(message).toMatchObject({
      text: `${'a'.repeat(150)}bfim`,
      sms: { parts: 3, partsReceived: 3, how },
    })
    expect(new Set(message.providerIds)).toEqual(new Set(answers.map((answer) => answer.message_id)))
    for (const { message_id: id } of answers) expect((await receiptFor(id)).message_state).toBe(2)
  },
)

test('message_payload is split by the SMSC', async () => {
  await submit('5531977770006', { message_payload: Buffer.from('x'.repeat(400)) })
  expect(await shownTo('5531977770006')).toMatchObject({
    text: 'x'.repeat(400),
    sms: { how: 'payload', parts: 3 },
  })
})

test('parts that never come do not hide the rest', async () => {
  const hasty = await startTestSandbox({ smpp: { assemblyMs: 1 } })
  const other = await connectForeign(hasty)
  await bindForeign(other, hasty)
  const part = Buffer.from([5, 0, 3, 8, 2, 1, 0x6f, 0x69])
  await other.send('submit_sm', {
    destination_addr: '5531977770007',
    esm_class: 0x40,
    data_coding: 0,
    short_message: part,
  })
  const { body } = await callApi(hasty, '/api/messages/wait?to=5531977770007')
  expect(body).toMatchObject({ text: 'oi', sms: { parts: 2, partsReceived: 1 } })
  other.close()
  await hasty.stop()
})

test('the person answers: deliver_sm to the sender, long texts in parts', async () => {
  await submit('5531977770008', { short_message: Buffer.from('Confirma?') })
  const message = await shownTo('5531977770008')
  await callApi(sandbox, `/api/messages/${message.id}/reply`, 'POST', { text: 'Sim, às 15h!' })
  const answer = await until(() =>
    client.delivered.find((pdu) => pdu.source_addr === '5531977770008' && pdu.esm_class === 0),
  )
  expect(answer).toMatchObject({ destination_addr: '28000', data_coding: 0 })
  expect(String(answer.short_message.message)).toBe('Sim, às 15h!')
  await callApi(sandbox, '/api/answers', 'POST', {
    channel: 'sms',
    from: '+5531977770009',
    to: '28000',
    text: 'ç'.repeat(100),
  })
  const parts = await until(() => {
    const mine = client.delivered.filter((pdu) => pdu.source_addr === '5531977770009')
    return mine.length === 2 ? mine : undefined
  })
  expect(parts.map((pdu) => [pdu.esm_class, pdu.data_coding])).toEqual([
    [0x40, 8],
    [0x40, 8],
  ])
})

test('what nobody is bound to receive waits for the next bind', async () => {
  client.close()
  await until(() => (client.isClosed() ? true : undefined))
  await callApi(sandbox, '/api/answers', 'POST', {
    channel: 'sms',
    from: '+5531977770010',
    to: '28000',
    text: 'cheguei',
  })
  client = await connectForeign(sandbox)
  await bindForeign(client, sandbox, 'bind_receiver')
  await until(() => client.delivered.find((pdu) => pdu.source_addr === '5531977770010'))
})

test('magic endings: a state by receipt, and no receipt at all', async () => {
  const failed = await submit('5531900001005', { short_message: Buffer.from('x') })
  expect((await receiptFor(failed.message_id)).message_state).toBe(5)
  const silent = await submit('5531900001000', { short_message: Buffer.from('x') })
  const later = await submit('5531977770011', { short_message: Buffer.from('x') })
  await receiptFor(later.message_id)
  expect(client.delivered.some((pdu) => pdu.receipted_message_id === silent.message_id)).toBe(false)
})

test('ids in hexadecimal on one side only, receipts without TLVs', async () => {
  await callApi(sandbox, '/api/settings', 'PUT', { sms: { receiptForm: 'text', responseIdFormat: 'hex' } })
  const { message_id: id } = await submit('5531977770012', { short_message: Buffer.from('x') })
  const receipt = await until(() => client.delivered.find((pdu) => pdu.source_addr === '5531977770012'))
  expect(receipt.receipted_message_id).toBeUndefined()
  expect(String(receipt.short_message.message)).toContain(`id:${BigInt(`0x${id}`)} `)
  await callApi(sandbox, '/api/settings', 'PUT', {
    sms: { receiptForm: 'both', responseIdFormat: 'decimal' },
  })
})

test('dials: the receipt overtakes the answer; the connection breaks before and after the hand-over', async () => {
  sandbox.setChaos({ sms: { receipts: { outOfOrderRate: 1 } } })
  const early = submit('5531977770013', { short_message: Buffer.from('x') })
  const receipt = await until(() => client.delivered.find((pdu) => pdu.source_addr === '5531977770013'))
  expect((await early).message_id).toBe(receipt.receipted_message_id)
  sandbox.setChaos({ sms: { dropAfterRate: 1, receipts: { outOfOrderRate: 0 } } })
  await expect(submit('5531977770014', { short_message: Buffer.from('x') })).rejects.toThrow('closed')
  expect((await shownTo('5531977770014')).text).toBe('x')
  sandbox.setChaos({ sms: { dropAfterRate: 0, dropBeforeRate: 1 } })
  client = await connectForeign(sandbox)
  await bindForeign(client, sandbox)
  await expect(submit('5531977770015', { short_message: Buffer.from('x') })).rejects.toThrow('closed')
  expect((await callApi(sandbox, '/api/messages?to=5531977770015')).body.messages).toEqual([])
  sandbox.setChaos({ sms: { dropBeforeRate: 0 } })
})
