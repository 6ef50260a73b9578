/** What messages can be found by. The first ones are always there, the others behind a button. */
import type { Filter } from '../../components/filter-bar.tsx'
import type { MessageState } from '../../components/state-badge.tsx'
import { text } from '../../text/index.ts'

const words = text.messages

export const initialFilters = {
  recipient: '',
  state: '',
  channel: '',
  lineId: '',
  from: '',
  to: '',
  id: '',
  providerId: '',
  callId: '',
  requestId: '',
  contractCode: '',
  templateId: '',
  segmentId: '',
  senderId: '',
  api: '',
}
export type MessageFilters = typeof initialFilters
type MessageFilter = Filter<keyof MessageFilters>

const optionsOf = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

export const firstFilters: readonly MessageFilter[] = [
  { name: 'recipient', kind: 'text', label: words.recipient, placeholder: words.recipientHint },
  {
    name: 'state',
    kind: 'select',
    label: words.state,
    options: optionsOf(text.common.states),
    allLabel: words.anyState,
    width: 140,
  },
  {
    name: 'channel',
    kind: 'select',
    label: words.channel,
    options: optionsOf(text.common.channels),
    allLabel: words.anyChannel,
    width: 150,
  },
  { name: 'lineId', kind: 'record', nouns: ['lines'], label: words.line, allLabel: words.anyLine },
  { name: 'from', kind: 'instant', label: words.from },
  { name: 'to', kind: 'instant', label: words.to },
]

const rareFilters: readonly MessageFilter[] = [
  {
    name: 'templateId',
    kind: 'record',
    nouns: ['templates'],
    label: words.template,
    allLabel: words.anyTemplate,
  },
  {
    name: 'segmentId',
    kind: 'record',
    nouns: ['segments'],
    label: words.segment,
    allLabel: words.anySegment,
  },
  {
    name: 'senderId',
    kind: 'record',
    nouns: ['users', 'direct-tokens'],
    label: words.sender,
    allLabel: words.anySender,
  },
  {
    name: 'api',
    kind: 'select',
    label: words.api,
    options: optionsOf(text.common.apis),
    allLabel: words.anyApi,
    width: 140,
  },
  { name: 'id', kind: 'text', label: words.id, placeholder: words.idHint },
  { name: 'providerId', kind: 'text', label: words.providerId },
  { name: 'callId', kind: 'text', label: words.callId, width: 180 },
  { name: 'requestId', kind: 'text', label: words.requestId, width: 180 },
  { name: 'contractCode', kind: 'text', label: words.contractCode, width: 180 },
]

export const allFilters: readonly MessageFilter[] = [...firstFilters, ...rareFilters]

/** One of those that are hidden at first is set. */
export const isRare = (filters: MessageFilters): boolean =>
  rareFilters.some(({ name }) => filters[name] !== '')

const troubles: readonly MessageState[] = ['failed', 'blocked', 'unknown']

/** In words: how far back the server looks with these filters. */
export function rangeOf(filters: MessageFilters): string {
  if (filters.from !== '' || filters.to !== '') return words.rangeChosen
  const { recipient, id, providerId, callId, state } = filters
  const isOfAllTime = [recipient, id, providerId, callId].some((value) => value !== '')
  return isOfAllTime || troubles.includes(state as MessageState) ? words.rangeAll : words.rangeDefault
}
