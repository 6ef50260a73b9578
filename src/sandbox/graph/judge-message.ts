/** Reads the body of a send: either what the person will see, or the provider's refusal. */
import type { WhatsAppFacts } from '../types.ts'
import { whatsappCodes } from '../provider-codes.ts'
import { refuse, refuseByCode } from './errors.ts'
import type { GraphRefusal } from './errors.ts'
import { mediaKinds } from './media.ts'
import type { MediaStore } from './media.ts'
import type { GraphState, Person, PhoneNumber } from './state.ts'
import { readMedia, RefusedParameter, renderTemplateMessage } from './template-message.ts'
import { templateLanguage } from './template-rules.ts'
import { asList, asObject, asText, isObject } from './wire.ts'
import type { JsonObject } from './wire.ts'

export type ReadMessage = {
  kind: 'message'
  person: Person
  /** What the caller wrote in `to` or `recipient`; it comes back as `input`. */
  input: string
  text: string
  whatsapp: WhatsAppFacts
  isTemplate: boolean
}

export const windowMs = 24 * 60 * 60 * 1000

type Content = { text: string } & Partial<Omit<WhatsAppFacts, 'phoneNumberId' | 'type'>>

function readRecipient(
  body: JsonObject,
  state: GraphState,
): { person: Person; input: string } | GraphRefusal {
  const userId = asText(body.recipient)
  if (userId && body.to === undefined) {
    if (!/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(userId)) {
      return refuse('invalidParameter', 'recipient is not a business-scoped user id.')
    }
    return { person: state.personByUserId(userId) ?? { digits: '', waId: '', userId }, input: userId }
  }
  const to = asText(body.to) ?? (typeof body.to === 'number' ? String(body.to) : undefined)
  if (!to) return refuse('missingParameter', 'The parameter to is required.')
  const digits = to.replaceAll(/[\s().+-]/g, '')
  if (!/^[1-9]\d{6,14}$/.test(digits)) return refuse('invalidParameter', 'to is not a phone number.')
  return { person: state.person(digits), input: to }
}

function stop(refusal: GraphRefusal): never {
  throw new RefusedParameter(refusal)
}

function readTemplateContent(
  template: JsonObject,
  state: GraphState,
  media: MediaStore,
  hasPhone: boolean,
): Content {
  const name = asText(template.name) ?? stop(refuse('missingParameter', 'template.name is required.'))
  const language = templateLanguage(template)
  if (!language) stop(refuse('missingParameter', 'template.language.code is required.'))
  const missing = `template name (${name}) does not exist in ${language}`
  const known = state.template(name, language) ?? stop(refuse('unknownTemplate', missing))
  switch (known.status) {
    case 'APPROVED':
      break
    case 'PAUSED':
      stop(refuse('templatePaused'))
      break
    case 'DISABLED':
      stop(refuse('templateDisabled'))
      break
    case 'PENDING':
    case 'REJECTED':
      stop(refuse('templateNotApproved', missing))
      break
  }
  if (known.category === 'AUTHENTICATION' && !hasPhone) stop(refuse('authenticationToUserId'))
  const rendered = renderTemplateMessage(known, template.components, media)
  return { ...rendered, template: { name, language, category: known.category } }
}

function readInteractive(interactive: JsonObject): Content {
  const action = asObject(interactive.action)
  const replies = asList(action.buttons).map((button) => asObject(button.reply))
  const rows = asList(action.sections).flatMap((section) => asList(section.rows))
  const buttons = [...replies, ...rows].map((choice) => ({
    kind: 'quick_reply' as const,
    text: asText(choice.title) ?? '',
    payload: asText(choice.id),
  }))
  const text = asText(asObject(interactive.body).text)
  if (!text) throw new RefusedParameter(refuse('missingParameter', 'interactive.body.text is required.'))
  return {
    text,
    header: asText(asObject(interactive.header).text),
    footer: asText(asObject(interactive.footer).text),
    buttons,
  }
}

function readContent(
  type: string,
  value: JsonObject,
  state: GraphState,
  media: MediaStore,
  hasPhone: boolean,
): Content {
  const kind = mediaKinds.find((candidate) => candidate === type)
  if (kind) {
    const caption = asText(value.caption) ?? ''
    if (caption.length > 1024) throw new RefusedParameter(refuse('captionTooLong'))
    return { text: caption, media: readMedia(type, kind, value, media) }
  }
  switch (type) {
    case 'text': {
      const text = asText(value.body)
      if (!text) throw new RefusedParameter(refuse('missingParameter', 'text.body is required.'))
      if (text.length > 4096) throw new RefusedParameter(refuse('textTooLong'))
      return { text }
    }
    case 'template':
      return readTemplateContent(value, state, media, hasPhone)
    case 'interactive':
      return readInteractive(value)
    case 'reaction':
      return { text: asText(value.emoji) ?? '', contextId: asText(value.message_id) }
    case 'location':
      return {
        text: [value.name, value.address, `${String(value.latitude)}, ${String(value.longitude)}`]
          .filter(Boolean)
          .join('\n'),
      }
    default:
      throw new RefusedParameter(refuse('unsupportedType', `type ${type} is not supported.`))
  }
}

export function judgeMessage(
  body: JsonObject,
  phone: PhoneNumber,
  state: GraphState,
  media: MediaStore,
): ReadMessage | GraphRefusal {
  if (body.messaging_product !== 'whatsapp') return refuse('noProduct')
  const recipient = readRecipient(body, state)
  if ('refusal' in recipient) return recipient
  const { person, input } = recipient
  if (person.digits !== '' && person.digits === phone.number.replaceAll(/\D/g, ''))
    return refuse('sameNumber')
  const type = asText(body.type) ?? 'text'
  const value = body[type]
  if (!isObject(value)) {
    const isKnown =
      mediaKinds.some((kind) => kind === type) || ['text', 'template', 'interactive'].includes(type)
    return isKnown
      ? refuse('missingParameter', `The parameter ${type} is required.`)
      : refuse('unsupportedType')
  }
  try {
    const content = readContent(type, value, state, media, person.digits !== '')
    return {
      kind: 'message',
      person,
      input,
      text: content.text,
      isTemplate: type === 'template',
      whatsapp: {
        phoneNumberId: phone.id,
        type,
        template: content.template,
        header: content.header,
        media: content.media,
        footer: content.footer,
        buttons: content.buttons ?? [],
        cards: content.cards ?? [],
        contextId: content.contextId ?? asText(asObject(body.context).message_id),
        callbackData: asText(body.biz_opaque_callback_data),
        userId: person.userId,
      },
    }
  } catch (fault) {
    if (fault instanceof RefusedParameter) return fault.refusal
    throw fault
  }
}

/** Numbers that end in `00` and a six-digit code of the provider fail with that code, for tests without dials. */
export function refusalBySuffix(digits: string): GraphRefusal | undefined {
  const code = Number(/00(\d{6})$/.exec(digits)?.[1] ?? Number.NaN)
  if (!(code in whatsappCodes)) return undefined
  return code === 131026 ? refuse('notOnWhatsApp') : refuseByCode(code)
}
