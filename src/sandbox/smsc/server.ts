/** The sandbox's SMSC: SMPP 3.4 binds, submit_sm and data_sm, receipts, and what people answer as deliver_sm. */
import { setTimeout as delay } from 'node:timers/promises'
import { encodeGsm7, encodeUcs2, splitSms } from '../../domain/sms-text.ts'
import type { Clock } from '../../lib/clock.ts'
import { concatenationHeader, listenSmpp, status, tags, uint8Tlv, udhiBit } from '../../lib/smpp/index.ts'
import type { Answer, InboundRequest, SmppSession } from '../../lib/smpp/index.ts'
import { equalBytes } from '../../lib/secrets.ts'
import type { Chaos, Fate } from '../chaos.ts'
import type { Inbox } from '../inbox.ts'
import { openAt } from '../listen.ts'
import { smppReceiptStates } from '../provider-codes.ts'
import { createReceiptTimer } from '../receipts.ts'
import { smsRefusals } from '../refusals.ts'
import type { SandboxLog, SandboxMessage } from '../types.ts'
import { createAssembler } from './assembly.ts'
import {
  decodeText,
  judgeSubmit,
  partsOfPayload,
  refusalStatus,
  stateBySuffix,
  statusBySuffix,
} from './judge-submit.ts'
import type { Segment, Submit } from './judge-submit.ts'
import { createOutbound } from './outbound.ts'
import { buildReceipt, formatId } from './receipt.ts'
import type { IdFormat, ReceiptForm } from './receipt.ts'

export type SmppAccount = { systemId: string; password: string }

export type SmscSettings = {
  receiptForm: ReceiptForm
  /** How ids are written in submit_sm_resp and in receipts; many SMSCs do not write them the same way. */
  responseIdFormat: IdFormat
  receiptIdFormat: IdFormat
}

export const defaultSmscSettings: SmscSettings = {
  receiptForm: 'both',
  responseIdFormat: 'decimal',
  receiptIdFormat: 'decimal',
}

export type SmscOptions = {
  host: string
  port: number
  isPortFixed: boolean
  accounts: SmppAccount[]
  settings: SmscSettings
  /** How long the parts of a long text may take. */
  assemblyMs?: number
  retryMs?: number
  inbox: Inbox
  chaos: Chaos
  clock: Clock
  log: SandboxLog
}

export type SmscSandbox = {
  port: number
  settings: SmscSettings
  accounts: string[]
  sessions(): { systemId: string; bind: string }[]
  /** A text from the person; it waits when no receiver of the account is bound. */
  receive(systemId: string, from: string, to: string, text: string): SandboxMessage
  stop(): Promise<void>
}

type SegmentFacts = { systemId: string; pdu: Submit; wantsReceipt: boolean }

const sameSecret = (a: string, b: string) => equalBytes(Buffer.from(a), Buffer.from(b))

export async function startSmsc(options: SmscOptions): Promise<SmscSandbox> {
  const { inbox, chaos, clock, log, accounts, settings } = options
  const owners = new WeakMap<SmppSession, string>()
  const bound = new Map<SmppSession, string>()
  const timer = createReceiptTimer()
  const outbound = createOutbound({ retryMs: options.retryMs, log })
  // Ids grow over restarts too, so that an old receipt never names a new message.
  let lastId = BigInt(clock.now().getTime()) * 1000n
  let reference = 0

  const assembler = createAssembler<SegmentFacts>({
    waitMs: options.assemblyMs,
    done({ facts: { systemId, pdu, wantsReceipt }, total, parts }) {
      const { segment } = parts[0]!
      const content = Buffer.concat(parts.map((part) => part.segment.content))
      inbox.add(
        {
          channel: 'sms',
          direction: 'toPerson',
          line: systemId,
          from: pdu.source,
          to: `+${pdu.destination.replaceAll(/\D/g, '')}`,
          text: decodeText(content, segment.encoding),
          providerIds: parts.map((part) => part.messageId),
          sms: {
            dataCoding: pdu.dataCoding,
            encoding: segment.encoding,
            isFlash: segment.isFlash,
            parts: segment.how === 'payload' ? partsOfPayload(content, segment.encoding) : total,
            partsReceived:
              segment.how === 'payload' ? partsOfPayload(content, segment.encoding) : parts.length,
            how: segment.how,
            wantsReceipt,
          },
        },
        Buffer.from(
          `${JSON.stringify({ ...pdu, shortMessage: undefined, tlvs: undefined, parts: parts.map(({ messageId, segment: part }) => ({ messageId, octets: Buffer.from(part.content).toString('hex') })) }, undefined, 2)}\n`,
        ),
      )
    },
  })

  function bindSession(
    pdu: { systemId: string; password: string; command: string },
    session: SmppSession,
  ): Answer {
    const account = accounts.find(({ systemId }) => systemId === pdu.systemId)
    if (!account) return { status: smsRefusals.unknownSystemId.code }
    if (!sameSecret(account.password, pdu.password)) return { status: smsRefusals.wrongPassword.code }
    owners.set(session, account.systemId)
    bound.set(session, account.systemId)
    void session.closed.then(() => bound.delete(session))
    if (pdu.command !== 'bind_transmitter') outbound.bound(account.systemId, session)
    return { systemId: 'PomboSandbox', tlvs: [uint8Tlv(tags.scInterfaceVersion, 0x34)] }
  }

  /** Final receipts by the fate's second step; intermediate ones, when asked for, by its first. */
  function scheduleReceipts(
    systemId: string,
    pdu: Submit,
    segment: Segment,
    id: bigint,
    fate: Fate,
  ): () => void {
    const digits = pdu.destination.replaceAll(/\D/g, '')
    const messageId = formatId(id, settings.responseIdFormat)
    const state = stateBySuffix(digits) ?? fate.lateErrorCode ?? 2
    const asked = pdu.registeredDelivery & 0x03
    const submittedAt = clock.now()
    const tell = (receipt: number) => {
      const isFinal = receipt === 1
      const message = inbox.byProviderId(messageId)
      if (state === 0) return
      if (message) {
        const isFailed = isFinal && state !== 2
        const error = { code: state, title: smppReceiptStates[state] ?? 'UNKNOWN' }
        inbox.setStatus(
          message.id,
          isFailed ? { status: 'failed', error } : { status: isFinal ? 'delivered' : 'sent' },
        )
      }
      const isWanted = isFinal
        ? asked === 1 || (asked === 2 && state !== 2)
        : (pdu.registeredDelivery & 0x10) !== 0
      if (!isWanted) return
      const facts = { ...pdu, id, state: isFinal ? state : 1, submittedAt, doneAt: clock.now() }
      const text = decodeText(segment.content.subarray(0, 40), segment.encoding)
      outbound.send(
        systemId,
        buildReceipt({ ...facts, text }, settings.receiptForm, settings.receiptIdFormat),
      )
    }
    if (fate.isOutOfOrder) return () => fate.receipts.forEach(({ receipt }) => tell(receipt))
    return () => timer.schedule(fate.receipts, tell)
  }

  async function submit(pdu: Submit, session: SmppSession): Promise<Answer | undefined> {
    const systemId = owners.get(session) ?? ''
    const segment = judgeSubmit(pdu)
    const digits = pdu.destination.replaceAll(/\D/g, '')
    const fate = chaos.fate('sms', digits)
    if (fate.isDroppedBefore) {
      session.destroy('dropped on purpose, before the hand-over')
      return undefined
    }
    if (fate.latencyMs > 0) await delay(fate.latencyMs)
    if (segment.kind === 'refused') return { status: refusalStatus(segment.refusal) }
    if (!chaos.mayPass('sms', clock.now().getTime())) return { status: smsRefusals.throttled.code }
    const refusal = statusBySuffix(digits) ?? fate.errorCode
    if (refusal !== undefined) return { status: refusal }

    lastId += 1n
    const id = lastId
    const messageId = formatId(id, settings.responseIdFormat)
    const facts: SegmentFacts = { systemId, pdu, wantsReceipt: (pdu.registeredDelivery & 0x03) !== 0 }
    assembler.add(`${systemId}|${pdu.source}|${pdu.destination}`, facts, { messageId, segment })
    const startReceipts = scheduleReceipts(systemId, pdu, segment, id, fate)
    startReceipts()
    if (fate.isDroppedAfter) {
      session.destroy('dropped on purpose, after the hand-over')
      return undefined
    }
    // Out of order: the receipt is on its way already, the answer follows it.
    if (fate.isOutOfOrder) await delay(Math.max(5, chaos.settings().sms.receipts.delayMs))
    return { messageId }
  }

  function onRequest(
    pdu: InboundRequest,
    session: SmppSession,
  ): Answer | undefined | Promise<Answer | undefined> {
    switch (pdu.command) {
      case 'bind_receiver':
      case 'bind_transmitter':
      case 'bind_transceiver':
        return bindSession(pdu, session)
      case 'submit_sm':
      case 'data_sm':
        return submit(pdu, session)
      case 'deliver_sm':
        return { status: status.ESME_RINVCMDID }
    }
  }

  const server = await openAt(options, (port) =>
    listenSmpp(
      {
        host: options.host,
        port,
        onFault: (fault) => log.warn({ cause: String(fault) }, 'The sandbox SMSC met a fault.'),
      },
      {
        onRequest,
        enquireLinkMs: 60_000,
        onFault: (fault) =>
          log.error({ cause: String(fault) }, 'The sandbox SMSC failed to handle a request.'),
      },
    ),
  )

  return {
    port: server.port,
    settings,
    accounts: accounts.map(({ systemId }) => systemId),
    sessions: () => [...bound].map(([session, systemId]) => ({ systemId, bind: session.bind ?? 'closing' })),
    receive(systemId, from, to, text) {
      const { encoding, parts } = splitSms(text)
      reference = (reference + 1) & 0xff
      const message = inbox.add({
        channel: 'sms',
        direction: 'fromPerson',
        line: systemId,
        from: `+${from.replaceAll(/\D/g, '')}`,
        to,
        text,
        providerIds: [],
        sms: {
          dataCoding: encoding === 'gsm7' ? 0 : 8,
          encoding,
          isFlash: false,
          parts: parts.length,
          partsReceived: parts.length,
          how: parts.length > 1 ? 'udh' : 'single',
          wantsReceipt: false,
        },
      })
      for (const [index, part] of parts.entries()) {
        const octets = encoding === 'gsm7' ? encodeGsm7(part) : encodeUcs2(part)
        const header =
          parts.length > 1
            ? concatenationHeader({ reference, total: parts.length, part: index + 1 })
            : new Uint8Array(0)
        outbound.send(systemId, {
          source: from.replaceAll(/\D/g, ''),
          sourceTon: 1,
          sourceNpi: 1,
          destination: to.replace(/^\+/, ''),
          destinationTon: 0,
          destinationNpi: 1,
          esmClass: parts.length > 1 ? udhiBit : 0,
          dataCoding: encoding === 'gsm7' ? 0 : 8,
          shortMessage: Buffer.concat([header, octets]),
        })
      }
      return message
    },
    async stop() {
      timer.stop()
      outbound.stop()
      assembler.flush()
      await server.close()
    },
  }
}
