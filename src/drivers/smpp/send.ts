/** One bound session per line; many submit_sm on their way at once, never more than the window. */
import { createBatcher } from '../../lib/batch.ts'
import { status } from '../../lib/smpp/index.ts'
import type { Answer, InboundRequest, RequestOutcome, SmppSession } from '../../lib/smpp/index.ts'
import type {
  DriverContext,
  DriverLine,
  LineReport,
  LineSession,
  OutgoingMessage,
  SendResult,
} from '../driver.ts'
import type { DriverError, DriverErrorKind } from '../errors.ts'
import { readSettings } from '../settings.ts'
import { readLost, readMeanings, readStatus } from './errors.ts'
import { canonicalId } from './ids.ts'
import { SmppLink, usualTiming } from './link.ts'
import type { LinkTiming } from './link.ts'
import { submitUnits, unitsFor, validityPeriod } from './parts.ts'
import type { SubmitInput } from './parts.ts'
import { readDelivery } from './receipts.ts'
import { SmppSettings } from './settings.ts'
import { createSlots } from './slots.ts'

type PartResult = { id: string } | { error: DriverError }

/** When parts fare differently: doubt first, since it forbids a retry; then what is final; then what may pass. */
const severity: Record<DriverErrorKind, number> = {
  no_answer: 0,
  unreadable_reply: 1,
  opted_out: 2,
  invalid_message: 3,
  rejected: 4,
  misconfigured: 5,
  throttled: 6,
  unreachable: 7,
}

export function openSmppLine(
  line: DriverLine,
  context: DriverContext,
  timing: LinkTiming = usualTiming,
): LineSession {
  const settings = readSettings(SmppSettings, line.settings)
  const meanings = readMeanings(settings.statusMeanings)
  const throttleMs = settings.throttleSeconds * 1000
  const common = unitsFor(settings, line.address)
  const slots = createSlots(settings.window)
  const reports = createBatcher<LineReport, Answer>({
    maxBatch: 1000,
    maxWaiting: 5000,
    async run(batch) {
      await context.report(batch)
      return batch.map(() => accepted)
    },
  })

  /** Told "taken" only when it is stored; otherwise the provider sends it again. */
  async function receive(pdu: InboundRequest): Promise<Answer> {
    if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return { status: status.ESME_RINVCMDID }
    const reading = readDelivery(pdu, settings.dlrIdFormat, context.clock.now())
    if (!reading.ok) {
      // Sent again it would be no more readable.
      context.log.warn({ reason: reading.reason, source: pdu.source }, 'an SMPP delivery is not understood')
      return accepted
    }
    try {
      return await reports.ask(reading.report)
    } catch (error) {
      context.log.error({ err: error }, 'an SMPP delivery could not be stored')
      return tryAgain
    }
  }
  const link = new SmppLink(settings, context, receive, timing)

  const readOutcome = (outcome: RequestOutcome, message: OutgoingMessage, part: number): PartResult => {
    if (outcome.kind === 'lost') return { error: readLost(outcome) }
    if (!outcome.isOk) return { error: readStatus(outcome.pdu.status, message.attempt, meanings, throttleMs) }
    const given = 'messageId' in outcome.pdu ? outcome.pdu.messageId.trim() : ''
    // Taken, but without an id no receipt can be told apart: ours stands in.
    return { id: given === '' ? `${message.id}-${part}` : canonicalId(given, settings.respIdFormat) }
  }

  async function submit(
    session: SmppSession,
    unit: SubmitInput,
    message: OutgoingMessage,
    part: number,
  ): Promise<PartResult> {
    if (!slots.tryTake()) await slots.take()
    try {
      return readOutcome(await session.request(unit), message, part)
    } catch (error) {
      return { error: invalid(error instanceof Error ? error.message : String(error)) }
    } finally {
      slots.give()
    }
  }

  async function send(message: OutgoingMessage): Promise<SendResult> {
    const { content } = message
    if (content.kind !== 'text' || content.files.length > 0) {
      return { ok: false, error: invalid('An SMS is text and nothing else.') }
    }
    const session = link.session ?? (await link.ready())
    if ('kind' in session) return { ok: false, error: session }
    const leftMs = message.expiresAt.getTime() - context.clock.now().getTime()
    const reading = submitUnits(common, settings, {
      recipient: message.recipient,
      text: content.text,
      isFlash: content.isFlash === true,
      reference: parseInt(message.id.slice(-4), 16),
      validityPeriod: settings.hasValidity ? validityPeriod(leftMs) : '',
    })
    if (!reading.ok) return { ok: false, error: invalid(reading.reason) }
    const { units } = reading
    if (units.length === 1) {
      const result = await submit(session, units[0]!, message, 1)
      if ('id' in result) return { ok: true, providerIds: [result.id] }
      return { ok: false, error: result.error, exchange: exchangeOf(units[0]!, result.error) }
    }
    return await sendParts(session, units, message)
  }

  async function sendParts(
    session: SmppSession,
    units: SubmitInput[],
    message: OutgoingMessage,
  ): Promise<SendResult> {
    const results = await Promise.all(
      units.map(async (unit, index): Promise<PartResult> => {
        const taken = message.takenIds?.[index]
        return taken ? { id: taken } : await submit(session, unit, message, index + 1)
      }),
    )
    const takenIds = results.map((result) => ('id' in result ? result.id : null))
    const faults = results.flatMap((result, index) =>
      'error' in result ? [{ index, error: result.error }] : [],
    )
    const [worst] = faults.toSorted((a, b) => severity[a.error.kind] - severity[b.error.kind])
    if (worst === undefined) return { ok: true, providerIds: takenIds.filter((id) => id !== null) }
    const words = `part ${worst.index + 1} of ${units.length}: ${worst.error.message}`
    return {
      ok: false,
      error: { ...worst.error, message: words },
      ...(takenIds.some((id) => id !== null) ? { takenIds } : {}),
      exchange: exchangeOf(units[worst.index]!, { ...worst.error, message: words }),
    }
  }

  return {
    window: settings.window,
    send,
    health() {
      if (link.session !== undefined) return { isUp: true, detail: `bound as ${settings.systemId}` }
      return { isUp: false, detail: link.fault?.message ?? (link.isOpening ? 'binding' : 'not bound') }
    },
    close: () => link.close(),
  }
}

const accepted: Answer = { status: status.ESME_ROK }
const tryAgain: Answer = { status: status.ESME_RX_T_APPN }

const invalid = (message: string): DriverError => ({
  kind: 'invalid_message',
  code: 'invalid_message',
  message,
})

const exchangeOf = (unit: SubmitInput, error: DriverError) => ({
  request:
    `submit_sm source=${unit.source} destination=${unit.destination} data_coding=${unit.dataCoding} ` +
    `esm_class=${unit.esmClass} sm_length=${unit.shortMessage?.length ?? 0}`,
  response: `${error.code} ${error.message}`,
})
