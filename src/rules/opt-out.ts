/** The recipient wants nothing on this channel. */
import type { Channel } from '../domain/channel.ts'
import type { Check } from './facts.ts'

const channelNames: Record<Channel, string> = { email: 'e-mail', sms: 'SMS', whatsapp: 'WhatsApp' }

export const checkOptOut: Check<'opt_out'> = (_settings, facts) =>
  facts.optedOutChannels.includes(facts.channel)
    ? { reason: `recipient has opted out of ${channelNames[facts.channel]}`, matched: facts.channel }
    : undefined
