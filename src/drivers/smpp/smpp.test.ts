import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { listenSmpp, status, tags, textTlv, uint8Tlv } from '../../lib/smpp/index.ts'
import type { Answer, InboundRequest, PduInput, SmppServer, SmppSession } from '../../lib/smpp/index.ts'
import type { LineReport, LineSession } from '../driver.ts'
import {
  atEnd,
  deadPort,
  guardDriverTests,
  listen,
  testContext,
  testFaults,
  testLine,
  testMessage,
  testText,
  until,
} from '../driver-test.ts'
import type { FaultCase, TestContext } from '../driver-test.ts'
import { canonicalId } from './ids.ts'
import { smpp } from './index.ts'
import { openSmppLine } from './send.ts'
import { validityPeriod } from './parts.ts'

guardDriverTests()

const quick = { connectMs: 1000, minPauseMs: 10, maxPauseMs: 40, refusedPauseMs: 60_000 }
type Submit = Extract<InboundRequest, { command: 'submit_sm' }>
type Peer = {
  port: number
  submits: Submit[]
  binds: Extract<InboundRequest, { command: 'bind_transceiver' }>[]
  sessions: SmppSession[]
  server: SmppServer
}

/** An SMSC: `act` answers each submit_sm, by default with ids that count. */
async function smsc(
  act: (pdu: Submit, session: SmppSession) => Answer | undefined | Promise<Answer | undefined> = () => ({}),
  bindStatus: () => number = () => 0,
): Promise<Peer> {
  const submits: Submit[] = []
  const binds: Peer['binds'] = []
  const sessions: SmppSession[] = []
  const server = await listenSmpp(
    { host: '127.0.0.1', port: 0 },
    {
      enquireLinkMs: 0,
      closeTimeoutMs: 100,
      onRequest(pdu, session) {
        if (pdu.command === 'bind_transceiver') {
          binds.push(pdu)
          sessions.push(session)
          return { status: bindStatus(), systemId: 'smsc' }
        }
        if (pdu.command !== 'submit_sm') return { status: status.ESME_RINVCMDID }
        submits.push({ ...pdu, shortMessage: Uint8Array.from(pdu.shortMessage) })
        const answer = act(pdu, session)
        if (answer instanceof Promise || answer === undefined) return answer
        return { messageId: `id-${submits.length}`, ...answer }
      },
    },
  )
  atEnd(() => server.close())
  return { port: server.port, submits, binds, sessions, server }
}

function openSms(
  port: number,
  more: Record<string, unknown> = {},
  context: TestContext = testContext(),
  timing = quick,
): LineSession {
  const settings = { host: '127.0.0.1', port, systemId: 'ana', password: 'secret', ...more }
  const session = openSmppLine(testLine(smpp, settings), context, timing)
  atEnd(() => session.close())
  return session
}

const sms = (text: string, isFlash = false) => testMessage({ content: testText(text, { isFlash }) })

const udhParts = (submits: Submit[]) => submits.map(({ shortMessage }) => [...shortMessage.subarray(0, 6)])

describe('what is sent', () => {
  test('a transceiver bind of version 3.4, then a GSM text as octets with data_coding 0', async () => {
    const peer = await smsc()
    const line = openSms(peer.port)
    expect(await line.send(sms('Olé €'))).toEqual({ ok: true, providerIds: ['id-1'] })
    expect(peer.binds).toMatchObject([{ systemId: 'ana', password: 'secret', interfaceVersion: 0x34 }])
    expect(peer.submits[0]).toMatchObject({
      source: '5511987654321',
      sourceTon: 1,
      sourceNpi: 1,
      destination: '5531996883193',
      destinationTon: 1,
      destinationNpi: 1,
      esmClass: 0,
      dataCoding: 0,
      registeredDelivery: 1,
      validityPeriod: expect.stringMatching(/^0000000(?:1|0)\d{4}000R$/),
    })
    expect([...peer.submits[0]!.shortMessage]).toEqual([0x4f, 0x6c, 0x05, 0x20, 0x1b, 0x65])
    expect(line.health()).toMatchObject({ isUp: true })
  })

  test.each([
    ['ã', false, {}, 8],
    ['a', true, {}, 0x10],
    ['ã', true, {}, 0x18],
    ['a', true, { flash: 'older_class' }, 0xf0],
    ['ã', true, { flash: 'older_class' }, 0x18],
    ['a', true, { flash: 'subunit' }, 0],
  ])('%s with flash %s and %j has data_coding %i', async (text, isFlash, more, dataCoding) => {
    const peer = await smsc()
    await openSms(peer.port, more).send(sms(text, isFlash))
    expect(peer.submits[0]!.dataCoding).toBe(dataCoding)
    expect(peer.submits[0]!.tlvs.some(({ tag }) => tag === tags.destAddrSubunit)).toBe(
      'flash' in more && more.flash === 'subunit',
    )
  })

  test.each([
    [{ sender: 'Pombo' }, { source: 'Pombo', sourceTon: 5, sourceNpi: 0 }],
    [{ sender: '27999' }, { source: '27999', sourceTon: 3, sourceNpi: 0 }],
    [
      { sender: '27999', sourceTon: 0, sourceNpi: 1 },
      { sourceTon: 0, sourceNpi: 1 },
    ],
    [
      { destinationTon: 2, destinationNpi: 8, serviceType: 'CMT', receipts: 'none', hasValidity: false },
      { destinationTon: 2, destinationNpi: 8, serviceType: 'CMT', registeredDelivery: 0, validityPeriod: '' },
    ],
    [{ receipts: 'failures' }, { registeredDelivery: 2 }],
  ])('%j', async (more, expected) => {
    const peer = await smsc()
    await openSms(peer.port, more).send(sms('a'))
    expect(peer.submits[0]).toMatchObject(expected)
  })

  const long = 'é'.repeat(310)
  const longUnicode = 'ã'.repeat(66) + '😀'.repeat(40)

  test('a long text in parts with a header, one id each, no pair torn', async () => {
    const peer = await smsc()
    const line = openSms(peer.port)
    expect(await line.send(sms(long))).toEqual({ ok: true, providerIds: ['id-1', 'id-2', 'id-3'] })
    const reference = peer.submits[0]!.shortMessage[3]
    expect(udhParts(peer.submits)).toEqual([1, 2, 3].map((part) => [5, 0, 3, reference, 3, part]))
    expect(peer.submits.map(({ esmClass, shortMessage }) => [esmClass, shortMessage.length])).toEqual([
      [0x40, 159],
      [0x40, 159],
      [0x40, 10],
    ])
    expect(await line.send(sms(longUnicode))).toMatchObject({
      ok: true,
      providerIds: ['id-4', 'id-5', 'id-6'],
    })
    for (const { shortMessage } of peer.submits.slice(3)) {
      const text = Buffer.from(shortMessage.subarray(6)).swap16().toString('utf16le')
      expect(text.isWellFormed()).toBe(true)
    }
  })

  test('a long text with parameters, or whole as payload', async () => {
    const peer = await smsc()
    await openSms(peer.port, { longTexts: 'sar' }).send(sms(long))
    expect(peer.submits.map(({ tlvs, esmClass }) => [esmClass, tlvs.map(({ tag }) => tag)])).toEqual(
      [1, 2, 3].map(() => [0, [tags.sarMsgRefNum, tags.sarTotalSegments, tags.sarSegmentSeqnum]]),
    )
    const whole = await smsc()
    expect(await openSms(whole.port, { longTexts: 'payload' }).send(sms(long))).toEqual({
      ok: true,
      providerIds: ['id-1'],
    })
    expect(whole.submits[0]!.shortMessage).toHaveLength(0)
    expect(whole.submits[0]!.tlvs).toMatchObject([{ tag: tags.messagePayload, value: { length: 310 } }])
  })

  test('only what was not taken goes again, under the same reference', async () => {
    let hasRefused = false
    const peer = await smsc((pdu) => {
      if (pdu.shortMessage[5] !== 2 || hasRefused) return {}
      hasRefused = true
      return { status: status.ESME_RTHROTTLED }
    })
    const line = openSms(peer.port)
    const message = sms(long)
    const first = await line.send(message)
    expect(first).toMatchObject({ ok: false, error: { kind: 'throttled' }, takenIds: ['id-1', null, 'id-3'] })
    const again = await line.send({ ...message, attempt: 2, takenIds: first.ok ? [] : first.takenIds! })
    expect(again).toEqual({ ok: true, providerIds: ['id-1', 'id-4', 'id-3'] })
    expect(udhParts(peer.submits)[3]).toEqual(udhParts(peer.submits)[1])
  })

  test('doubt about one part is doubt about all: nothing is sent again blindly', async () => {
    const peer = await smsc((pdu) =>
      pdu.shortMessage[5] === 2
        ? undefined
        : pdu.shortMessage[5] === 3
          ? { status: status.ESME_RINVDSTADR }
          : {},
    )
    const result = await openSms(peer.port, { answerTimeoutSeconds: 1 }).send(sms(long))
    expect(result).toMatchObject({ ok: false, error: { kind: 'no_answer' }, takenIds: ['id-1', null, null] })
  })

  test('never more in flight than the window, and all arrive in order', async () => {
    let inFlight = 0
    let most = 0
    const peer = await smsc(async () => {
      most = Math.max(most, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve, 2))
      inFlight--
      return { messageId: 'x' }
    })
    const line = openSms(peer.port, { window: 7 })
    const results = await Promise.all(Array.from({ length: 60 }, (_, index) => line.send(sms(`n${index}`))))
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(most).toBe(7)
    expect(peer.submits.map(({ shortMessage }) => Buffer.from(shortMessage).toString())).toEqual(
      Array.from({ length: 60 }, (_, index) => `n${index}`),
    )
  })

  test('a template or a file is no SMS', async () => {
    const peer = await smsc()
    const file = {
      name: 'a.pdf',
      mimeType: 'application/pdf',
      source: { kind: 'stored' as const, hash: 'x', size: 1 },
    }
    const result = await openSms(peer.port).send(testMessage({ content: testText('a', { files: [file] }) }))
    expect(result).toMatchObject({ ok: false, error: { kind: 'invalid_message' } })
  })

  test('a recipient that does not fit its field costs only itself', async () => {
    const peer = await smsc()
    const line = openSms(peer.port, { window: 1 })
    for (const recipient of ['1'.repeat(30), '55\u0000', 'ana@example.com', '+5531996883193', '']) {
      const bad = await line.send({ ...sms('a'), recipient })
      expect(bad).toMatchObject({ ok: false, error: { kind: 'invalid_message' } })
    }
    expect(await line.send(sms('a'))).toMatchObject({ ok: true })
  })
})

describe('answers of the provider', () => {
  const cases: FaultCase<{ code: number; attempt?: number; more?: Record<string, unknown> }>[] = [
    {
      name: 'throttled 0x58',
      answer: { code: 0x58, more: { throttleSeconds: 60 } },
      kind: 'throttled',
      code: '0x58',
      retryAfterMs: 60_000,
    },
    { name: 'queue full 0x14', answer: { code: 0x14 }, kind: 'throttled' },
    { name: 'system error 0x08', answer: { code: 0x08 }, kind: 'throttled' },
    {
      name: 'temporary application error 0x64',
      answer: { code: 0x64 },
      kind: 'throttled',
      isRecipientOnly: true,
    },
    {
      name: 'submit failed 0x45, first time',
      answer: { code: 0x45 },
      kind: 'throttled',
      isRecipientOnly: true,
    },
    { name: 'submit failed 0x45, third time', answer: { code: 0x45, attempt: 3 }, kind: 'rejected' },
    { name: 'not bound 0x04', answer: { code: 0x04 }, kind: 'unreachable' },
    { name: 'length 0x01', answer: { code: 0x01 }, kind: 'invalid_message' },
    { name: 'source 0x0A', answer: { code: 0x0a }, kind: 'misconfigured' },
    { name: 'destination 0x0B', answer: { code: 0x0b }, kind: 'rejected', code: '0x0b' },
    { name: 'source ton 0x48', answer: { code: 0x48 }, kind: 'misconfigured' },
    { name: 'destination npi 0x51', answer: { code: 0x51 }, kind: 'misconfigured' },
    { name: 'esm_class 0x43', answer: { code: 0x43 }, kind: 'invalid_message' },
    { name: 'expiry 0x62', answer: { code: 0x62 }, kind: 'invalid_message' },
    { name: 'permanent application error 0x65', answer: { code: 0x65 }, kind: 'rejected' },
    { name: 'data_coding 0x104', answer: { code: 0x104 }, kind: 'invalid_message' },
    { name: "a provider's own code", answer: { code: 0x4ff }, kind: 'rejected', code: '0x4ff' },
    {
      name: 'the same, named in the settings',
      answer: { code: 0x4ff, more: { statusMeanings: '0x0400=throttled, 1279=opted_out' } },
      kind: 'opted_out',
    },
  ]
  testFaults(cases, async ({ code, attempt = 1, more }) => {
    const peer = await smsc(() => ({ status: code }))
    return await openSms(peer.port, more).send({ ...sms('a'), attempt })
  })

  test('a meaning that is not on the closed list is refused when the line is opened', () => {
    expect(() => openSms(1, { statusMeanings: '0x400=sometimes' })).toThrow(/statusMeanings.*0x400=sometimes/)
  })

  test('taken without an id is taken', async () => {
    const peer = await smsc(() => ({ messageId: '' }))
    const message = sms('a')
    expect(await openSms(peer.port).send(message)).toEqual({ ok: true, providerIds: [`${message.id}-1`] })
  })
})

describe('the bind', () => {
  test.each([
    [status.ESME_RINVPASWD, 'misconfigured'],
    [status.ESME_RINVSYSID, 'misconfigured'],
    [status.ESME_RBINDFAIL, 'misconfigured'],
    [0x411, 'misconfigured'],
    [status.ESME_RALYBND, 'unreachable'],
    [status.ESME_RTHROTTLED, 'unreachable'],
  ])('refused with %i → %s', async (code, kind) => {
    const peer = await smsc(undefined, () => code)
    const line = openSms(peer.port, {}, testContext(), { ...quick, minPauseMs: 5000, maxPauseMs: 5000 })
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind } })
    expect(line.health().isUp).toBe(false)
  })

  test('wrong credentials are not tried again in a hot loop, whatever is sent meanwhile', async () => {
    const peer = await smsc(undefined, () => status.ESME_RINVPASWD)
    const line = openSms(peer.port)
    for (let count = 0; count < 50; count++) await line.send(sms('a'))
    // As long as it takes another line to try five times.
    const other = await smsc(undefined, () => status.ESME_RALYBND)
    openSms(other.port)
    await until('tried five times', () => other.binds.length >= 5)
    expect(peer.binds).toHaveLength(1)
  })

  test('an SMSC that still sees the old session is asked again until it lets us in', async () => {
    let refusals = 3
    const peer = await smsc(undefined, () => (refusals-- > 0 ? status.ESME_RALYBND : 0))
    const line = openSms(peer.port)
    await until('bound', () => line.health().isUp)
    expect(peer.binds).toHaveLength(4)
    expect(await line.send(sms('a'))).toMatchObject({ ok: true })
  })

  test('nobody listens: told at once, with the time of the next try', async () => {
    const line = openSms(await deadPort(), {}, testContext(), {
      ...quick,
      minPauseMs: 5000,
      maxPauseMs: 5000,
    })
    const result = await line.send(sms('a'))
    expect(result).toMatchObject({
      ok: false,
      error: { kind: 'unreachable', retryAfterMs: expect.any(Number) },
    })
    expect(result.ok ? 0 : result.error.retryAfterMs).toBeGreaterThan(1000)
  })

  test('a host that the guard does not allow', async () => {
    const line = openSms(2775, { host: '10.0.0.1' })
    expect(await line.send(sms('a'))).toMatchObject({
      ok: false,
      error: { kind: 'misconfigured', code: 'refused' },
    })
  })

  test('a password that does not fit in its field', async () => {
    const peer = await smsc()
    const line = openSms(peer.port, { password: 'p\0q' })
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'misconfigured' } })
  })

  test('a peer that accepts and says nothing', async () => {
    const port = await listen(createServer(() => {}))
    const line = openSms(port, {}, testContext(), { ...quick, connectMs: 100, minPauseMs: 5000 })
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
  })

  test('a peer that speaks something else', async () => {
    const port = await listen(createServer((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')))
    const line = openSms(port, {}, testContext(), { ...quick, minPauseMs: 5000 })
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
  })

  test('binds again when the provider unbinds or vanishes', async () => {
    const peer = await smsc()
    const line = openSms(peer.port)
    expect(await line.send(sms('a'))).toMatchObject({ ok: true })
    await peer.sessions[0]!.unbind()
    await until('bound again', () => peer.sessions.length === 2 && line.health().isUp)
    peer.sessions[1]!.destroy('vanished')
    await until('bound a third time', () => peer.sessions.length === 3 && line.health().isUp)
    expect(await line.send(sms('a'))).toMatchObject({ ok: true })
  })

  test('a silent peer is found out by enquire_link', async () => {
    const sockets: Socket[] = []
    const port = await listen(
      createServer((socket) => {
        sockets.push(socket)
        // Answers the bind and nothing else.
        socket.once('data', (bind: Buffer) => {
          const answer = Buffer.from([0, 0, 0, 17, 0x80, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0])
          bind.copy(answer, 12, 12, 16)
          socket.write(answer)
        })
      }),
    )
    openSms(port, { enquireLinkSeconds: 1, answerTimeoutSeconds: 1 })
    await until('found out', () => sockets.length > 1)
  })

  test('closing says goodbye', async () => {
    const peer = await smsc()
    const line = openSms(peer.port)
    await line.send(sms('a'))
    await line.close()
    expect(await peer.sessions[0]!.closed).toBe('the peer unbound')
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
  })
})

describe('cut and slow connections', () => {
  test('cut after the submit: nobody knows', async () => {
    const peer = await smsc((_, session) => {
      session.destroy('cut')
      return undefined
    })
    expect(await openSms(peer.port).send(sms('a'))).toMatchObject({
      ok: false,
      error: { kind: 'no_answer', code: 'closed' },
    })
  })

  test('cut before the submit: nothing was handed over', async () => {
    const peer = await smsc()
    const line = openSms(peer.port, {}, testContext(), { ...quick, minPauseMs: 5000, maxPauseMs: 5000 })
    await line.send(sms('a'))
    await peer.server.close()
    await until('lost', () => !line.health().isUp)
    expect(await line.send(sms('a'))).toMatchObject({ ok: false, error: { kind: 'unreachable' } })
  })

  test('no answer in time', async () => {
    const peer = await smsc(() => undefined)
    const result = await openSms(peer.port, { answerTimeoutSeconds: 1 }).send(sms('a'))
    expect(result).toMatchObject({ ok: false, error: { kind: 'no_answer', code: 'timeout' } })
  })

  test('a window of messages in flight when the connection is cut: all unknown, the waiting ones not', async () => {
    const peer = await smsc((_, session) => {
      if (peer.submits.length === 5) session.destroy('cut')
      return undefined
    })
    const line = openSms(peer.port, { window: 5 })
    const results = await Promise.all(Array.from({ length: 8 }, () => line.send(sms('a'))))
    expect(results.map((result) => (result.ok ? 'ok' : result.error.kind))).toEqual([
      ...Array<string>(5).fill('no_answer'),
      ...Array<string>(3).fill('unreachable'),
    ])
  })

  test('an answer that comes octet by octet', async () => {
    const port = await listen(
      createServer((socket) => {
        socket.on('data', (unit: Buffer) => {
          const id = unit.readUInt32BE(4)
          const body = id === 4 ? Buffer.from('abc\0') : Buffer.from('\0')
          const header = Buffer.alloc(16)
          header.writeUInt32BE(16 + body.length, 0)
          header.writeUInt32BE(0x8000_0000 + id, 4)
          unit.copy(header, 12, 12, 16)
          const drip = ([first, ...rest]: number[]): void => {
            if (first === undefined || socket.destroyed) return
            socket.write(Buffer.from([first]))
            setImmediate(drip, rest)
          }
          drip([...header, ...body])
        })
      }),
    )
    expect(await openSms(port).send(sms('a'))).toEqual({ ok: true, providerIds: ['abc'] })
  })
})

describe('receipts and messages of people', () => {
  type Deliver = PduInput<'deliver_sm'>
  async function deliver(
    pdus: Omit<Deliver, 'command'>[],
    more: Record<string, unknown> = {},
    context = testContext(),
  ) {
    const peer = await smsc()
    const line = openSms(peer.port, more, context)
    await until('bound', () => line.health().isUp)
    const outcomes = await Promise.all(
      pdus.map((pdu) =>
        peer.sessions[0]!.request({
          command: 'deliver_sm',
          source: '5531996883193',
          destination: '5511987654321',
          ...pdu,
        }),
      ),
    )
    return { outcomes, reports: context.reports }
  }
  const receipt = (text: string, more: Partial<Deliver> = {}) => ({
    esmClass: 4,
    shortMessage: Buffer.from(text),
    ...more,
  })
  const usual =
    'id:1A2B sub:001 dlvrd:001 submit date:2611150234 done date:2611150235 stat:DELIVRD err:000 text:id:9 stat:UNDELIV'

  test.each([
    ['text form', receipt(usual), {}, { providerId: '1A2B', state: 'delivered' }],
    [
      'capitals and seconds',
      receipt('ID:7 SUB:001 DONE DATE:261115023501 STAT:EXPIRED ERR:012 TEXT:'),
      {},
      { providerId: '7', state: 'expired', error: { code: '012', message: 'EXPIRED' } },
    ],
    [
      'UNDELIV',
      receipt('id:7 stat:UNDELIV err:27'),
      {},
      { state: 'failed', error: { code: '27', message: 'UNDELIV' } },
    ],
    ['REJECTD', receipt('id:7 stat:REJECTD err:1'), {}, { state: 'failed' }],
    ['DELETED', receipt('id:7 stat:DELETED'), {}, { state: 'failed' }],
    ['UNKNOWN', receipt('id:7 stat:UNKNOWN'), {}, { state: 'failed' }],
    ['ACCEPTD', receipt('id:7 stat:ACCEPTD'), {}, { state: 'sent' }],
    ['ENROUTE', receipt('id:7 stat:ENROUTE'), {}, { state: 'sent' }],
    ['hexadecimal in the receipt', receipt(usual), { dlrIdFormat: 'hex' }, { providerId: '6699' }],
    [
      'decimal with zeros',
      receipt('id:0000012345 stat:DELIVRD'),
      { dlrIdFormat: 'dec' },
      { providerId: '12345' },
    ],
    [
      'beyond 2^53',
      receipt('id:ffffffffffffffff stat:DELIVRD'),
      { dlrIdFormat: 'hex' },
      { providerId: '18446744073709551615' },
    ],
    [
      'parameters only',
      { esmClass: 4, tlvs: [textTlv(tags.receiptedMessageId, 'abc'), uint8Tlv(tags.messageState, 2)] },
      {},
      { providerId: 'abc', state: 'delivered' },
    ],
    [
      'parameters without the class',
      { tlvs: [textTlv(tags.receiptedMessageId, 'abc'), uint8Tlv(tags.messageState, 5)] },
      {},
      { state: 'failed', error: { code: '', message: 'UNDELIVERABLE' } },
    ],
    [
      'parameters win over the text',
      receipt(usual, { tlvs: [textTlv(tags.receiptedMessageId, 'abc'), uint8Tlv(tags.messageState, 3)] }),
      {},
      { providerId: 'abc', state: 'expired' },
    ],
    [
      'network error code',
      receipt('id:7 stat:UNDELIV err:000', {
        tlvs: [{ tag: tags.networkErrorCode, value: Uint8Array.of(3, 0, 27) }],
      }),
      {},
      { error: { code: '3-27', message: 'UNDELIV' } },
    ],
    [
      'data_coding 8 with ASCII text',
      receipt('id:7 stat:DELIVRD', { dataCoding: 8 }),
      {},
      { providerId: '7', state: 'delivered' },
    ],
    [
      'really UCS-2',
      { esmClass: 4, dataCoding: 8, shortMessage: Buffer.from('id:7 stat:DELIVRD', 'utf16le').swap16() },
      {},
      { providerId: '7', state: 'delivered' },
    ],
    ['intermediate notification', receipt('id:7 stat:ENROUTE', { esmClass: 0x20 }), {}, { state: 'sent' }],
  ])('%s', async (_, pdu, more, expected) => {
    const { outcomes, reports } = await deliver([pdu], more)
    expect(reports).toMatchObject([{ kind: 'receipt', receipt: expected }])
    expect(outcomes).toMatchObject([{ kind: 'answered', isOk: true }])
  })

  test('what a person writes is never a receipt', async () => {
    const { reports } = await deliver([{ shortMessage: Buffer.from('id:7 stat:DELIVRD err:000') }])
    expect(reports).toMatchObject([
      {
        kind: 'inbound',
        message: { text: 'id:7 stat:DELIVRD err:000', from: '5531996883193', kind: 'text' },
      },
    ])
  })

  test.each([
    ['GSM', { dataCoding: 0, shortMessage: Buffer.from([0x4f, 0x6c, 0x05, 0x1b, 0x65]) }, 'Olé€'],
    ['Latin-1', { dataCoding: 3, shortMessage: Buffer.from('olá', 'latin1') }, 'olá'],
    ['UCS-2', { dataCoding: 8, shortMessage: Buffer.from('não 😀', 'utf16le').swap16() }, 'não 😀'],
    ['flash UCS-2', { dataCoding: 0x18, shortMessage: Buffer.from('não', 'utf16le').swap16() }, 'não'],
    [
      'payload',
      { shortMessage: Buffer.alloc(0), tlvs: [{ tag: tags.messagePayload, value: Buffer.from('PARE') }] },
      'PARE',
    ],
  ])('a message in %s', async (_, pdu, text) => {
    const { reports } = await deliver([pdu])
    expect(reports).toMatchObject([{ kind: 'inbound', message: { text } }])
  })

  test('parts of a long message, binary content, a sender that is a name', async () => {
    const { reports } = await deliver([
      { esmClass: 0x40, shortMessage: Buffer.from([5, 0, 3, 9, 2, 1, 0x41]) },
      {
        shortMessage: Buffer.from('B'),
        tlvs: [
          { tag: tags.sarMsgRefNum, value: Uint8Array.of(1, 0) },
          uint8Tlv(tags.sarTotalSegments, 2),
          uint8Tlv(tags.sarSegmentSeqnum, 2),
        ],
      },
      { dataCoding: 4, shortMessage: Buffer.from([1, 2, 3]) },
      { source: 'Bank', sourceTon: 5, shortMessage: Buffer.from('x') },
    ])
    const messages = reports.map((report) => (report.kind === 'inbound' ? report.message : undefined))
    expect(messages).toMatchObject([
      { text: 'A', part: { reference: 9, total: 2, number: 1 } },
      { text: 'B', part: { reference: 256, total: 2, number: 2 } },
      { text: '', kind: 'other' },
      { text: 'x' },
    ])
    expect(messages[3]!.from).toBeUndefined()
    expect(new Set(messages.map((message) => message!.providerId)).size).toBe(4)
  })

  test('the same message sent again has the same id', async () => {
    const at = new Date('2026-11-15T02:34:10Z')
    const { reports } = await deliver(
      [{ shortMessage: Buffer.from('x') }, { shortMessage: Buffer.from('x') }],
      {},
      testContext({ clock: { now: () => at } }),
    )
    const ids = reports.map((report) => (report.kind === 'inbound' ? report.message.providerId : ''))
    expect(ids[0]).toBe(ids[1])
  })

  test('answered only when stored, and stored together', async () => {
    const batches: LineReport[][] = []
    const gate = Promise.withResolvers<void>()
    const context = testContext({
      report: async (given) => {
        batches.push(given)
        await gate.promise
      },
    })
    const peer = await smsc()
    const line = openSms(peer.port, {}, context)
    await until('bound', () => line.health().isUp)
    let answered = 0
    const deliveries = Array.from({ length: 100 }, async (_, index) => {
      const outcome = await peer.sessions[0]!.request({
        command: 'deliver_sm',
        ...receipt(`id:${index} stat:DELIVRD`),
      })
      answered++
      return outcome
    })
    await until('the first batch is being stored', () => batches.length === 1)
    expect(await line.send(sms('goes on meanwhile'))).toMatchObject({ ok: true })
    expect(answered).toBe(0)
    gate.resolve()
    const outcomes = await Promise.all(deliveries)
    expect(outcomes.every((outcome) => outcome.kind === 'answered' && outcome.isOk)).toBe(true)
    expect(batches.flat()).toHaveLength(100)
    expect(batches.length).toBeLessThanOrEqual(3)
  })

  test('what could not be stored is asked for again', async () => {
    const context = testContext({ report: () => Promise.reject(new Error('database away')) })
    const { outcomes } = await deliver([receipt(usual)], {}, context)
    expect(outcomes).toMatchObject([
      { kind: 'answered', isOk: false, pdu: { status: status.ESME_RX_T_APPN } },
    ])
  })

  test('what cannot be understood is taken once and reported to nobody', async () => {
    const { outcomes, reports } = await deliver([receipt('no fields at all'), receipt('id:7 stat:MAYBE')])
    expect(outcomes).toMatchObject([{ isOk: true }, { isOk: true }])
    expect(reports).toEqual([])
  })
})

test.each([
  ['1a2B', 'as-is', '1a2B'],
  ['0012', 'dec', '12'],
  ['0012', 'hex', '18'],
  ['0x1F', 'hex', '31'],
  ['abc-def', 'hex', 'abc-def'],
  ['12x', 'dec', '12x'],
  ['99999999999999999999', 'dec', '99999999999999999999'],
] as const)('id %s read as %s is %s', (given, format, id) => expect(canonicalId(given, format)).toBe(id))

test.each([
  [600_000, '000000001000000R'],
  [86_400_000, '000001000000000R'],
  [1, '000000000001000R'],
  [-5, '000000000001000R'],
  [31 * 86_400_000 + 3_661_000, '000101010101000R'],
  [10 ** 12, '000203000000000R'],
])('%i ms left is %s', (leftMs, text) => expect(validityPeriod(leftMs)).toBe(text))
