/** What the business hears by webhook: statuses of its messages, what people write, what became of templates. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { Inbox } from '../inbox.ts'
import type { MessageStatus, SandboxMessage } from '../types.ts'
import { whatsappCode } from '../provider-codes.ts'
import { webhookError } from './errors.ts'
import type { GraphRefusal } from './errors.ts'
import type { MediaItem } from './media.ts'
import type { GraphState, Person, PhoneNumber, Template } from './state.ts'
import type { WebhookSender } from './webhooks.ts'

export const newWamid = (): string => `wamid.${randomBytes(30).toString('base64')}`

export type Answer =
  | { kind: 'text'; text: string }
  | { kind: 'button'; text: string; payload: string }
  | { kind: 'interactive'; id: string; title: string }
  | { kind: 'reaction'; emoji: string }
  | { kind: 'media'; media: 'image' | 'video' | 'audio' | 'document'; item: MediaItem; caption?: string }

export type GraphNotifier = {
  status(message: SandboxMessage, status: MessageStatus, refusal?: GraphRefusal): void
  receive(phone: PhoneNumber, digits: string, answer: Answer, quoted?: SandboxMessage): SandboxMessage
  templateStatus(template: Template, reason: string | null): void
  preferences(phone: PhoneNumber, digits: string, isStopped: boolean): void
}

function contentOf(answer: Answer): { type: string } & Record<string, unknown> {
  switch (answer.kind) {
    case 'text':
      return { type: 'text', text: { body: answer.text } }
    case 'button':
      return { type: 'button', button: { payload: answer.payload, text: answer.text } }
    case 'interactive':
      return {
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: answer.id, title: answer.title } },
      }
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: '', emoji: answer.emoji } }
    case 'media': {
      const { id, mimeType, sha256, filename } = answer.item
      const file = { id, mime_type: mimeType, sha256, caption: answer.caption, filename }
      return { type: answer.media, [answer.media]: file }
    }
  }
}

const wordsOf = (answer: Answer): string => {
  switch (answer.kind) {
    case 'text':
    case 'button':
      return answer.text
    case 'interactive':
      return answer.title
    case 'reaction':
      return answer.emoji
    case 'media':
      return answer.caption ?? ''
  }
}

export function createNotifier(options: {
  state: GraphState
  webhooks: WebhookSender
  inbox: Inbox
  defaultUrl: () => string | undefined
  clock: Clock
}): GraphNotifier {
  const { state, webhooks, inbox, clock } = options

  const seconds = () => String(Math.floor(clock.now().getTime() / 1000))
  const urlOf = (phone: PhoneNumber | undefined) => phone?.webhookUrl ?? options.defaultUrl()
  const hasPhone = (person: Person) => state.settings.userIds !== 'userId' && person.waId !== ''
  const hasUserId = () => state.settings.userIds !== 'phone'

  function tell(phone: PhoneNumber, part: object, field = 'messages'): void {
    const url = urlOf(phone)
    if (!url || !state.isSubscribed) return
    const metadata = { display_phone_number: phone.number.replaceAll(/\D/g, ''), phone_number_id: phone.id }
    webhooks.send(url, { field, value: { messaging_product: 'whatsapp', metadata, ...part } })
  }

  const contactOf = (person: Person) => ({
    profile: {
      name: 'Sandbox person',
      ...(hasUserId() ? { username: `person${person.digits.slice(-4)}` } : {}),
    },
    ...(hasPhone(person) ? { wa_id: person.waId } : {}),
    ...(hasUserId() ? { user_id: person.userId } : {}),
  })

  return {
    status(message, status, refusal) {
      const error = refusal && { code: refusal.refusal.code, title: whatsappCode(refusal.refusal.code).title }
      inbox.setStatus(message.id, { status, error })
      const phone = state.phones.get(message.whatsapp?.phoneNumberId ?? '')
      if (!phone || !message.whatsapp) return
      const person = message.to.startsWith('+')
        ? state.person(message.to.slice(1))
        : { digits: '', waId: '', userId: message.to }
      const category = message.whatsapp.template?.category.toLowerCase() ?? 'service'
      const isPriced = status === 'sent' || status === 'delivered'
      tell(phone, {
        statuses: [
          {
            id: message.providerIds[0],
            status,
            timestamp: seconds(),
            ...(hasPhone(person) ? { recipient_id: person.waId } : {}),
            // A failure of a phone-addressed send may come without the id.
            ...(hasUserId() && status !== 'failed' ? { recipient_user_id: person.userId } : {}),
            ...(message.whatsapp.callbackData === undefined
              ? {}
              : { biz_opaque_callback_data: message.whatsapp.callbackData }),
            ...(isPriced
              ? {
                  pricing: {
                    billable: category !== 'service',
                    pricing_model: 'PMP',
                    type: 'regular',
                    category,
                  },
                }
              : {}),
            ...(refusal ? { errors: [webhookError(refusal)] } : {}),
          },
        ],
      })
    },
    receive(phone, digits, answer, quoted) {
      const person = state.person(digits)
      state.openWindow(phone.id, digits, clock.now().getTime())
      const wamid = newWamid()
      const content = contentOf(answer)
      if (answer.kind === 'reaction') {
        content.reaction = { message_id: quoted?.providerIds[0] ?? '', emoji: answer.emoji }
      }
      const message = inbox.add({
        channel: 'whatsapp',
        direction: 'fromPerson',
        line: phone.id,
        from: `+${digits}`,
        to: phone.number,
        text: wordsOf(answer),
        providerIds: [wamid],
        whatsapp: {
          phoneNumberId: phone.id,
          type: content.type,
          media:
            answer.kind === 'media'
              ? {
                  kind: answer.media,
                  id: answer.item.id,
                  mimeType: answer.item.mimeType,
                  filename: answer.item.filename,
                }
              : undefined,
          buttons: [],
          cards: [],
          contextId: quoted?.providerIds[0],
          userId: person.userId,
        },
      })
      tell(phone, {
        contacts: [contactOf(person)],
        messages: [
          {
            ...(hasPhone(person) ? { from: person.waId } : {}),
            ...(hasUserId() ? { from_user_id: person.userId } : {}),
            id: wamid,
            timestamp: seconds(),
            ...(quoted && answer.kind !== 'reaction'
              ? { context: { from: phone.number.replaceAll(/\D/g, ''), id: quoted.providerIds[0] } }
              : {}),
            ...content,
          },
        ],
      })
      return message
    },
    templateStatus(template, reason) {
      const url =
        options.defaultUrl() ?? [...state.phones.values()].find((phone) => phone.webhookUrl)?.webhookUrl
      if (!url || !state.isSubscribed) return
      webhooks.send(url, {
        field: 'message_template_status_update',
        value: {
          event: template.status,
          // An integer here and a string everywhere else: so it is on the provider's side.
          message_template_id: Number(template.id),
          message_template_name: template.name,
          message_template_language: template.language.replace('_', '-'),
          reason,
          message_template_category: template.category,
        },
      })
    },
    preferences(phone, digits, isStopped) {
      const person = state.person(digits)
      tell(
        phone,
        {
          contacts: [contactOf(person)],
          user_preferences: [
            {
              ...(hasPhone(person) ? { wa_id: person.waId } : {}),
              ...(hasUserId() ? { user_id: person.userId } : {}),
              detail: isStopped
                ? 'User requested to stop marketing messages'
                : 'User requested to resume marketing messages',
              category: 'marketing_messages',
              value: isStopped ? 'stop' : 'resume',
              timestamp: Number(seconds()),
            },
          ],
        },
        'user_preferences',
      )
    },
  }
}
