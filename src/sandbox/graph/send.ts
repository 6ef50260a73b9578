/** POST /{phone number id}/messages: judged, troubled by the dials, kept, answered, and told of by receipts. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { Chaos } from '../chaos.ts'
import type { Exchange } from '../http.ts'
import { sendJson } from '../http.ts'
import type { Inbox } from '../inbox.ts'
import type { ReceiptTimer } from '../receipts.ts'
import { errorAnswer, refuse, refuseByCode } from './errors.ts'
import type { GraphRefusal } from './errors.ts'
import { judgeMessage, refusalBySuffix, windowMs } from './judge-message.ts'
import type { ReadMessage } from './judge-message.ts'
import type { MediaStore } from './media.ts'
import { newWamid } from './notify.ts'
import type { GraphNotifier } from './notify.ts'
import type { GraphState, PhoneNumber } from './state.ts'
import { asText, isObject } from './wire.ts'

export type SendContext = {
  state: GraphState
  media: MediaStore
  inbox: Inbox
  chaos: Chaos
  notifier: GraphNotifier
  timer: ReceiptTimer
  clock: Clock
}

export const answerRefusal = ({ response }: Exchange, refusal: GraphRefusal): void => {
  const { status, body } = errorAnswer(refusal)
  sendJson(response, status, body)
}

function markRead(exchange: Exchange, messageId: string | undefined, inbox: Inbox): void {
  const message = messageId ? inbox.byProviderId(messageId) : undefined
  if (!message || message.direction !== 'fromPerson') {
    answerRefusal(exchange, refuse('invalidParameter', 'message_id is no message of a person.'))
    return
  }
  inbox.setStatus(message.id, { status: 'read' })
  sendJson(exchange.response, 200, { success: true })
}

/** Refusals that depend on time and on what came before, in the order the provider would notice them. */
function judgeMoment(read: ReadMessage, phone: PhoneNumber, context: SendContext): GraphRefusal | undefined {
  const { state, chaos, clock } = context
  const nowMs = clock.now().getTime()
  if (!chaos.mayPass('whatsapp', nowMs) || !state.hasThroughput(phone, nowMs)) return refuse('throughput')
  const bySuffix = refusalBySuffix(read.person.digits)
  if (bySuffix) return { ...bySuffix, refusal: { ...bySuffix.refusal, canBeLate: true } }
  if (!read.isTemplate) {
    const lastMs = state.lastInboundMs(phone.id, read.person.digits || read.person.userId)
    if (lastMs === undefined || nowMs - lastMs >= windowMs) return refuse('closedWindow')
  }
  return state.mayWriteTo(phone.id, read.person.digits || read.person.userId, nowMs)
    ? undefined
    : refuse('pairRate')
}

function keepMessage(read: ReadMessage, phone: PhoneNumber, inbox: Inbox, body: Buffer) {
  const { person, text, whatsapp } = read
  return inbox.add(
    {
      channel: 'whatsapp',
      direction: 'toPerson',
      line: phone.id,
      from: phone.number,
      to: person.digits ? `+${person.digits}` : person.userId,
      text,
      providerIds: [newWamid()],
      whatsapp,
    },
    body,
  )
}

export async function sendMessage(
  exchange: Exchange,
  phone: PhoneNumber,
  bytes: Buffer,
  body: unknown,
  context: SendContext,
): Promise<void> {
  const { state, media, inbox, chaos, notifier, timer } = context
  if (!isObject(body)) return answerRefusal(exchange, refuse('notReadable'))
  if (body.status === 'read') return markRead(exchange, asText(body.message_id), inbox)

  const read = judgeMessage(body, phone, state, media)
  const fate = chaos.fate('whatsapp', read.kind === 'message' ? read.person.digits || read.person.userId : '')
  if (fate.isDroppedBefore) {
    exchange.request.socket.destroy()
    return
  }
  if (fate.latencyMs > 0) await delay(fate.latencyMs)
  if (read.kind === 'refused') return answerRefusal(exchange, read)
  const refusal = judgeMoment(read, phone, context)
  const isLate =
    refusal?.refusal.canBeLate && (state.settings.lateRefusals || refusalBySuffix(read.person.digits))
  if (refusal && !isLate) return answerRefusal(exchange, refusal)
  if (fate.errorCode !== undefined) return answerRefusal(exchange, refuseByCode(fate.errorCode))

  const message = keepMessage(read, phone, inbox, bytes)
  if (fate.isDroppedAfter) exchange.request.socket.destroy()
  else {
    sendJson(exchange.response, 200, {
      messaging_product: 'whatsapp',
      contacts: [
        {
          input: read.input,
          ...(read.person.waId && state.settings.userIds !== 'userId' ? { wa_id: read.person.waId } : {}),
          ...(state.settings.userIds === 'phone' ? {} : { user_id: read.person.userId }),
        },
      ],
      messages: [{ id: message.providerIds[0], ...(read.isTemplate ? { message_status: 'accepted' } : {}) }],
    })
  }
  const failure = fate.lateErrorCode === undefined ? undefined : refuseByCode(fate.lateErrorCode)
  timer.schedule(fate.receipts, (receipt) => {
    // What is refused late fails without having been sent; what the dials fail was sent first.
    if (refusal) {
      if (receipt === 0) notifier.status(message, 'failed', refusal)
    } else if (receipt === 0) notifier.status(message, 'sent')
    else if (failure) notifier.status(message, 'failed', failure)
    else notifier.status(message, 'delivered')
  })
}
