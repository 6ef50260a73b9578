/** Our drivers against programs that are not ours: the `smpp` package's server here, `smtp-server` in smtp.test.ts. */
import { createRequire } from 'node:module'
import type { AddressInfo, Server } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  atEnd,
  guardDriverTests,
  openLine,
  testContext,
  testMessage,
  testText,
  until,
} from './driver-test.ts'
import { smpp } from './smpp/index.ts'

guardDriverTests()

// oxlint-disable-next-line typescript/no-explicit-any -- the package has no types; a wrong path fails the test
type Loose = any
const foreign: Loose = createRequire(import.meta.url)('smpp')

type ForeignSmsc = { port: number; submits: Loose[]; sessions: Loose[] }

async function foreignSmsc(
  answer: (pdu: Loose, count: number) => object = (_, count) => ({ message_id: `f${count}` }),
): Promise<ForeignSmsc> {
  const submits: Loose[] = []
  const sessions: Loose[] = []
  const server: Server & { sessions: Loose[] } = foreign.createServer((session: Loose) => {
    session.on('error', () => {})
    session.on('bind_transceiver', (pdu: Loose) => {
      sessions.push(session)
      const isRight = pdu.system_id === 'ana' && pdu.password === 'secret'
      session.send(pdu.response({ command_status: isRight ? 0 : foreign.ESME_RINVPASWD }))
    })
    session.on('submit_sm', (pdu: Loose) => {
      submits.push(pdu)
      session.send(pdu.response(answer(pdu, submits.length)))
    })
    session.on('enquire_link', (pdu: Loose) => session.send(pdu.response()))
    session.on('unbind', (pdu: Loose) => {
      session.send(pdu.response())
      session.close()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { port: (server.address() as AddressInfo).port, submits, sessions }
}

const settings = (port: number, more: object = {}) => ({
  host: '127.0.0.1',
  port,
  systemId: 'ana',
  password: 'secret',
  ...more,
})
const sms = (text: string, isFlash = false) => testMessage({ content: testText(text, { isFlash }) })

describe("the smpp package's server", () => {
  test('reads our texts as they were written', async () => {
    const peer = await foreignSmsc()
    const line = openLine(smpp, settings(peer.port))
    expect(await line.send(sms('Olé [€]'))).toEqual({ ok: true, providerIds: ['f1'] })
    expect(await line.send(sms('não 😀'))).toEqual({ ok: true, providerIds: ['f2'] })
    expect(peer.submits.map((pdu) => pdu.short_message.message)).toEqual(['Olé [€]', 'não 😀'])
    expect(peer.submits[0]).toMatchObject({
      destination_addr: '5531996883193',
      dest_addr_ton: 1,
      data_coding: 0,
      registered_delivery: 1,
    })
  })

  test('joins our parts', async () => {
    const peer = await foreignSmsc()
    const text = `${'0123456789'.repeat(31)}€€€`
    expect(await openLine(smpp, settings(peer.port)).send(sms(text))).toMatchObject({
      ok: true,
      providerIds: ['f1', 'f2', 'f3'],
    })
    expect(peer.submits.map((pdu) => pdu.short_message.message).join('')).toBe(text)
    const headers = peer.submits.map((pdu) => [...pdu.short_message.udh[0]])
    expect(headers.map((header) => header.slice(-2))).toEqual([
      [3, 1],
      [3, 2],
      [3, 3],
    ])
    await openLine(smpp, settings(peer.port, { longTexts: 'payload' })).send(sms(text))
    expect(peer.submits[3].message_payload.message).toBe(text)
    await openLine(smpp, settings(peer.port, { longTexts: 'sar' })).send(sms(text))
    expect(
      peer.submits
        .slice(4)
        .map((pdu) => [
          pdu.sar_total_segments,
          pdu.sar_segment_seqnum,
          pdu.sar_msg_ref_num === peer.submits[4].sar_msg_ref_num,
        ]),
    ).toEqual([
      [3, 1, true],
      [3, 2, true],
      [3, 3, true],
    ])
  })

  test('refuses us, throttles us, and tells us by receipt', async () => {
    const peer = await foreignSmsc((_, count) =>
      count === 1 ? { command_status: foreign.ESME_RTHROTTLED } : { message_id: '00FF' },
    )
    const context = testContext()
    const line = openLine(smpp, settings(peer.port, { respIdFormat: 'hex', dlrIdFormat: 'dec' }), context)
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'throttled' } })
    expect(await line.send(sms('a'))).toEqual({ ok: true, providerIds: ['255'] })
    const acknowledged = new Promise((resolve) => {
      peer.sessions[0].deliver_sm(
        {
          esm_class: 4,
          source_addr: '5531996883193',
          destination_addr: '5511987654321',
          short_message:
            'id:0000000255 sub:001 dlvrd:001 submit date:2611150234 done date:2611150234 stat:DELIVRD err:000 text:a',
        },
        resolve,
      )
    })
    expect(await acknowledged).toMatchObject({ command: 'deliver_sm_resp', command_status: 0 })
    expect(context.reports).toMatchObject([
      { kind: 'receipt', receipt: { providerId: '255', state: 'delivered' } },
    ])
    const wrong = openLine(smpp, settings(peer.port, { password: 'wrong' }))
    expect(await wrong.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'misconfigured' } })
  })

  test('vanishes and is found again', async () => {
    const peer = await foreignSmsc()
    const line = openLine(smpp, settings(peer.port))
    expect(await line.send(sms('a'))).toMatchObject({ ok: true })
    peer.sessions[0].destroy()
    await until('bound again', () => peer.sessions.length === 2 && line.health().isUp)
    expect(await line.send(sms('b'))).toMatchObject({ ok: true })
    await line.close()
  })
})
