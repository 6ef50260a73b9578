/** Messages of the sandbox as the person sees them. The types are the sandbox's own. */
import type { SandboxMessage } from '../../../../src/sandbox/types.ts'
import { text } from '../../text/index.ts'

export type { ButtonFacts, MediaFacts, SandboxMessage } from '../../../../src/sandbox/types.ts'

export type Conversation = {
  key: string
  channel: 'sms' | 'whatsapp'
  person: string
  business: string
  messages: SandboxMessage[]
}

const personOf = ({ direction, from, to }: SandboxMessage) => (direction === 'toPerson' ? to : from)
const businessOf = ({ direction, from, to }: SandboxMessage) => (direction === 'toPerson' ? from : to)

export const isUnread = ({ direction, status }: SandboxMessage): boolean =>
  direction === 'toPerson' && status !== 'read' && status !== 'failed'

/** Who talks with whom, the latest first; within each the oldest first. */
export function conversationsOf(messages: readonly SandboxMessage[]): Conversation[] {
  const found = new Map<string, Conversation>()
  for (const message of messages.toSorted((a, b) => a.sequence - b.sequence)) {
    const { channel } = message
    if (channel === 'email') continue
    const [person, business] = [personOf(message), businessOf(message)]
    const key = `${channel}|${person}|${business}`
    const known = found.get(key) ?? { key, channel, person, business, messages: [] }
    known.messages.push(message)
    found.set(key, known)
  }
  const last = ({ messages: all }: Conversation) => all.at(-1)?.sequence ?? 0
  return [...found.values()].toSorted((a, b) => last(b) - last(a))
}

/** A line of a list, without WhatsApp's marks. */
export function snippetOf(message: SandboxMessage): string {
  const { whatsapp, channel, direction } = message
  const plain = channel === 'whatsapp' ? message.text.replaceAll(/[*_~`]/g, '') : message.text
  const shown =
    plain ||
    (whatsapp?.media ? text.sandbox.media(whatsapp.media.kind) : '') ||
    (whatsapp?.cards.length ? text.sandbox.carousel : '')
  return (direction === 'fromPerson' ? text.sandbox.you : '') + shown.replaceAll(/\s+/g, ' ').slice(0, 120)
}

export const matches = (wanted: string, ...places: (string | undefined)[]): boolean =>
  wanted === '' || places.some((place) => place?.toLowerCase().includes(wanted.toLowerCase()))
