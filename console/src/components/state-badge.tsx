/** Where a message stands, and which channel it takes. */
import { IconBrandWhatsapp, IconDeviceMobileMessage, IconMail } from '@tabler/icons-react'
import type { ItemOf } from '../api.ts'
import { text } from '../text/index.ts'
import { Tag, type Tone } from './tag.tsx'

export type MessageState = ItemOf<'GET /messages'>['state']
export type Channel = ItemOf<'GET /messages'>['channel']

const tones: Record<MessageState, Tone> = {
  queued: 'neutral',
  sending: 'info',
  sent: 'info',
  delivered: 'good',
  read: 'good',
  failed: 'bad',
  expired: 'warn',
  unknown: 'warn',
  blocked: 'warn',
  not_sent: 'warn',
}

/** For charts: the same meaning as the badges. */
export const stateColors: Record<MessageState, string> = {
  queued: 'gray.5',
  sending: 'pombo.3',
  sent: 'pombo.5',
  delivered: 'green.6',
  read: 'teal.7',
  failed: 'red.7',
  expired: 'orange.6',
  unknown: 'yellow.6',
  blocked: 'grape.6',
  not_sent: 'gray.7',
}

export const StateBadge = ({ state }: { state: MessageState }) => (
  <Tag tone={tones[state]}>{text.common.states[state]}</Tag>
)

const icons = { email: IconMail, sms: IconDeviceMobileMessage, whatsapp: IconBrandWhatsapp }

export function ChannelLabel({ channel }: { channel: Channel }) {
  const Icon = icons[channel]
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: '0.35rem', whiteSpace: 'nowrap' }}>
      <Icon size={16} stroke={1.6} aria-hidden />
      {text.common.channels[channel]}
    </span>
  )
}
