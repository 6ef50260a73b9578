/** The recipient wants nothing on this channel, no marketing, or has no mailbox any more. */
import type { Channel } from '../domain/channel.ts'
import type { Check, Conflict, RuleFacts } from './facts.ts'

const channelNames: Record<Channel, string> = { email: 'e-mail', sms: 'SMS', whatsapp: 'WhatsApp' }

export const checkOptOut: Check<'opt_out'> = (_settings, facts) => {
  if (facts.optedOutChannels.includes(facts.channel))
    return { reason: `recipient has opted out of ${channelNames[facts.channel]}`, matched: facts.channel }
  return checkMarketing(facts) ?? checkMailbox(facts)
}

function checkMarketing({ channel, isMarketingOptedOut, template }: RuleFacts): Conflict | undefined {
  if (channel !== 'whatsapp' || !isMarketingOptedOut) return undefined
  return template?.content?.provider?.category === 'marketing'
    ? { reason: 'recipient has opted out of marketing on WhatsApp', matched: 'marketing' }
    : undefined
}

function checkMailbox({ channel, emailBouncedAt }: RuleFacts): Conflict | undefined {
  if (channel !== 'email' || !emailBouncedAt) return undefined
  const day = emailBouncedAt.toISOString().slice(0, 10)
  return { reason: `e-mail address of the recipient does not exist (bounced on ${day})`, matched: 'bounced' }
}
