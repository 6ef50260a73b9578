/** The same octets as another implementation: npm `smpp`, on a real socket, in both roles. */
import { createRequire } from 'node:module'
import { afterEach, expect, test } from 'vitest'
import { connectSmpp } from './client.ts'
import { listenSmpp } from './server.ts'
import type { InboundRequest } from './session.ts'
import { status } from './status.ts'
import { messageOctets, tags, textTlv, tlvNumber, tlvText, uint8Tlv } from './tlv.ts'

type Fields = Record<string, unknown>
type ForeignPdu = Fields & { command: string; response: (fields?: Fields) => ForeignPdu }
type ForeignSession = {
  on: (event: string, listener: (pdu: ForeignPdu) => void) => void
  send: (pdu: ForeignPdu) => void
  close: () => void
  destroy: () => void
} & Record<
  'bind_transceiver' | 'submit_sm' | 'deliver_sm' | 'data_sm' | 'enquire_link' | 'unbind',
  (fields: Fields, onAnswer?: (pdu: ForeignPdu) => void) => void
>
type Foreign = {
  createServer: (onSession: (session: ForeignSession) => void) => {
    listen: (port: number, host: string, done: () => void) => void
    address: () => { port: number }
    close: () => void
  }
  connect: (options: { host: string; port: number }, onConnect: () => void) => ForeignSession
}

const foreign: Foreign = createRequire(import.meta.url)('smpp')

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const ask = (
  session: ForeignSession,
  command: 'bind_transceiver' | 'submit_sm' | 'deliver_sm' | 'data_sm' | 'enquire_link' | 'unbind',
  fields: Fields,
) => new Promise<ForeignPdu>((resolve) => session[command](fields, resolve))

test('our client on their server', async () => {
  const sessions: ForeignSession[] = []
  const seen: ForeignPdu[] = []
  const server = foreign.createServer((session) => {
    sessions.push(session)
    session.on('pdu', (pdu) => seen.push(pdu))
    session.on('bind_transceiver', (pdu) => session.send(pdu.response({ system_id: 'their smsc' })))
    session.on('submit_sm', (pdu) =>
      session.send(
        pdu.response(
          pdu['destination_addr'] === '0'
            ? { command_status: status.ESME_RINVDSTADR }
            : { message_id: 'their-id' },
        ),
      ),
    )
    session.on('data_sm', (pdu) => session.send(pdu.response({ message_id: 'data-id' })))
    session.on('enquire_link', (pdu) => session.send(pdu.response()))
    session.on('unbind', (pdu) => {
      session.send(pdu.response())
      session.close()
    })
    session.on('error', () => session.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => server.close())

  const received: InboundRequest[] = []
  const session = await connectSmpp(
    { host: '127.0.0.1', port: server.address().port },
    { onRequest: (pdu) => (received.push(pdu), {}) },
  )
  cleanups.push(() => session.destroy('test over'))
  expect(
    await session.request({
      command: 'bind_transceiver',
      systemId: 'pombo',
      password: 'secret',
      systemType: 'x',
    }),
  ).toMatchObject({ isOk: true, pdu: { systemId: 'their smsc' } })
  expect(seen[0]).toMatchObject({
    system_id: 'pombo',
    password: 'secret',
    system_type: 'x',
    interface_version: 0x34,
  })

  const submitted = await session.request({
    command: 'submit_sm',
    sourceTon: 5,
    source: 'Pombo',
    destinationTon: 1,
    destinationNpi: 1,
    destination: '5531996883193',
    validityPeriod: '000001000000000R',
    registeredDelivery: 1,
    dataCoding: 8,
    shortMessage: Buffer.from('00e3d83dde00', 'hex'),
    tlvs: [uint8Tlv(tags.destAddrSubunit, 1), { tag: 0x1403, value: Buffer.from('raw') }],
  })
  expect(submitted).toMatchObject({ isOk: true, pdu: { command: 'submit_sm_resp', messageId: 'their-id' } })
  expect(seen[1]).toMatchObject({
    command: 'submit_sm',
    source_addr_ton: 5,
    source_addr: 'Pombo',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: '5531996883193',
    registered_delivery: 1,
    data_coding: 8,
    short_message: { message: 'ã😀' },
    dest_addr_subunit: 1,
    [0x1403]: Buffer.from('raw'),
  })
  expect(await session.request({ command: 'submit_sm', destination: '0' })).toMatchObject({
    isOk: false,
    pdu: { status: status.ESME_RINVDSTADR, messageId: '' },
  })
  const payload = { tag: tags.messagePayload, value: Buffer.from('a long one') }
  expect(await session.request({ command: 'data_sm', destination: '55', tlvs: [payload] })).toMatchObject({
    isOk: true,
    pdu: { messageId: 'data-id' },
  })
  expect(await session.request({ command: 'enquire_link' })).toMatchObject({ isOk: true })

  const answer = await ask(sessions[0]!, 'deliver_sm', {
    esm_class: 4,
    source_addr: '5531996883193',
    destination_addr: 'Pombo',
    short_message: 'id:their-id stat:DELIVRD',
    receipted_message_id: 'their-id',
    message_state: 2,
  })
  expect(answer).toMatchObject({ command: 'deliver_sm_resp', command_status: 0 })
  const [receipt] = received
  if (receipt?.command !== 'deliver_sm') throw new Error('no deliver_sm')
  expect(receipt).toMatchObject({ esmClass: 4, source: '5531996883193', destination: 'Pombo' })
  expect(Buffer.from(messageOctets(receipt)).toString('latin1')).toBe('id:their-id stat:DELIVRD')
  expect(tlvText(receipt.tlvs, tags.receiptedMessageId)).toBe('their-id')
  expect(tlvNumber(receipt.tlvs, tags.messageState)).toBe(2)

  await session.unbind()
  expect(await session.closed).toBe('unbound')
})

test('their client on our server', async () => {
  const seen: InboundRequest[] = []
  const server = await listenSmpp(
    { host: '127.0.0.1', port: 0 },
    {
      onRequest: (pdu) => {
        seen.push(pdu)
        if (pdu.command === 'submit_sm' && pdu.destination === '0') return { status: status.ESME_RINVDSTADR }
        return { messageId: 'our-id', systemId: 'our smsc' }
      },
    },
  )
  cleanups.push(() => server.close())
  let session: ForeignSession | undefined
  await new Promise<void>((resolve) => {
    session = foreign.connect({ host: '127.0.0.1', port: server.port }, resolve)
  })
  const client = session!
  cleanups.push(() => client.destroy())
  const delivered: ForeignPdu[] = []
  client.on('deliver_sm', (pdu) => {
    delivered.push(pdu)
    client.send(pdu.response())
  })

  expect(await ask(client, 'submit_sm', { destination_addr: '55' })).toMatchObject({
    command_status: status.ESME_RINVBNDSTS,
  })
  expect(await ask(client, 'bind_transceiver', { system_id: 'me', password: 'secret' })).toMatchObject({
    command_status: 0,
    system_id: 'our smsc',
  })
  expect(
    await ask(client, 'submit_sm', {
      destination_addr: '5531996883193',
      short_message: 'Hello',
      user_message_reference: 7,
    }),
  ).toMatchObject({ command_status: 0, message_id: 'our-id' })
  const submitted = seen[1]
  if (submitted?.command !== 'submit_sm') throw new Error('no submit_sm')
  expect(Buffer.from(submitted.shortMessage).toString('latin1')).toBe('Hello')
  expect(tlvNumber(submitted.tlvs, tags.userMessageReference)).toBe(7)
  expect(await ask(client, 'submit_sm', { destination_addr: '0' })).toMatchObject({
    command_status: status.ESME_RINVDSTADR,
  })
  expect(await ask(client, 'enquire_link', {})).toMatchObject({ command: 'enquire_link_resp' })

  const [ours] = server.sessions
  const outcome = await ours!.request({
    command: 'deliver_sm',
    source: '5531996883193',
    destination: 'Pombo',
    shortMessage: Buffer.from('STOP'),
    tlvs: [textTlv(tags.receiptedMessageId, 'our-id'), uint8Tlv(tags.messageState, 2)],
  })
  expect(outcome).toMatchObject({ isOk: true, pdu: { command: 'deliver_sm_resp' } })
  expect(delivered).toMatchObject([
    {
      source_addr: '5531996883193',
      short_message: { message: 'STOP' },
      receipted_message_id: 'our-id',
      message_state: 2,
    },
  ])
  expect(await ask(client, 'unbind', {})).toMatchObject({ command: 'unbind_resp' })
  expect(await ours!.closed).toBe('the peer unbound')
})
