/** A message of a person, whatever kind it is. */
import type { InboundMessage } from '../driver.ts'
import { asList, asObject, asText } from '../json.ts'
import type { JsonObject } from '../json.ts'

const mediaTypes = ['image', 'video', 'audio', 'document', 'sticker'] as const

export function readInboundMessage(
  message: JsonObject,
  contact: JsonObject,
  at: Date,
): InboundMessage | undefined {
  const providerId = asText(message.id)
  const type = asText(message.type) ?? 'unsupported'
  // Notes of the system ("changed their number") are not words of the person and open no window.
  if (providerId === undefined || type === 'system') return undefined
  const from = asText(message.from) ?? asText(contact.wa_id)
  const userId = asText(message.from_user_id) ?? asText(contact.user_id)
  const profile = asObject(contact.profile)
  const profileName = asText(profile.name) ?? asText(profile.username)
  const repliesTo = asText(asObject(message.context).id) ?? asText(asObject(message.reaction).message_id)
  return {
    providerId,
    ...(from === undefined ? {} : { from: from.replaceAll(/\D/g, '') }),
    ...(userId === undefined ? {} : { userId }),
    ...readContent(type, message),
    at,
    ...(repliesTo === undefined ? {} : { repliesTo }),
    ...(profileName === undefined ? {} : { profileName }),
  }
}

type Content = Pick<InboundMessage, 'kind' | 'text' | 'media'>

function readContent(type: string, message: JsonObject): Content {
  const content = asObject(message[type])
  const mediaType = mediaTypes.find((known) => known === type)
  if (mediaType !== undefined) {
    const id = asText(content.id)
    const name = asText(content.filename)
    const mimeType = asText(content.mime_type) ?? 'application/octet-stream'
    const media =
      id === undefined ? [] : [{ providerMediaId: id, mimeType, ...(name === undefined ? {} : { name }) }]
    return { kind: 'media', text: asText(content.caption) ?? '', media }
  }
  switch (type) {
    case 'text':
      return { kind: 'text', text: asText(content.body) ?? '', media: [] }
    case 'button':
      return { kind: 'button', text: asText(content.text) ?? asText(content.payload) ?? '', media: [] }
    case 'interactive':
      return { kind: 'button', text: interactiveText(content), media: [] }
    default:
      return { kind: 'other', text: otherText(type, content, message), media: [] }
  }
}

function interactiveText(content: JsonObject): string {
  const reply = asObject(content[asText(content.type) ?? ''])
  return asText(reply.title) ?? asText(reply.body) ?? asText(reply.name) ?? ''
}

/** A few words for the conversation; the kinds that have none are empty. */
function otherText(type: string, content: JsonObject, message: JsonObject): string {
  if (type === 'reaction') return asText(content.emoji) ?? ''
  if (type === 'location') {
    const place = [content.name, content.address].map(asText).filter((part) => part !== undefined)
    return [...place, `${asText(content.latitude) ?? ''},${asText(content.longitude) ?? ''}`].join(' ')
  }
  if (type === 'contacts') {
    return asList(message.contacts)
      .map((contact) => asText(asObject(contact.name).formatted_name) ?? '')
      .join(', ')
  }
  return type === 'order' ? (asText(content.text) ?? '') : ''
}
