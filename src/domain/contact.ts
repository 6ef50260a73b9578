/** A person of a company, found by the address of the channel used. */
import type { Channel } from './channel.ts'

export type Contact = {
  id: string
  phone: string | null
  email: string | null
  name: string | null
  taxId: string | null
  customCode: string | null
  tag: string | null
  jokers: readonly (string | null)[]
  segmentId: string | null
  lastInteractionAt: Date | null
  optedOutChannels: Channel[]
  /** WhatsApp's "no marketing from this business"; everything else may still be sent. */
  marketingOptedOutAt: Date | null
  /** A mail server said that there is no such mailbox. Until a person clears it, nothing is sent there. */
  emailBouncedAt: Date | null
}

/** Contact data given in a call; what is not given is undefined. */
export type ContactData = {
  name?: string
  taxId?: string
  customCode?: string
  tag?: string
  jokers?: readonly (string | null)[]
  walletCode?: string
  updateIfExists: boolean
}

export type OpenAttendance = { id: string; userId: string; openedAt: Date; activeAt: Date }
