/** A template as it is kept: what the company wrote, and what the provider knows it by. */
import type { Channel } from './channel.ts'

export type TemplateKind = 'text' | 'carousel' | 'verification'
export type Approval = 'approved' | 'pending' | 'rejected' | 'paused' | 'disabled'

export type TemplateHeader =
  | { kind: 'text'; text: string }
  | { kind: 'image' }
  | { kind: 'video' }
  | { kind: 'document' }

export type TemplateButton =
  | { kind: 'quick_reply'; text: string }
  /** `url` may end in one variable, as the provider allows. */
  | { kind: 'url'; text: string; url: string }
  | { kind: 'phone'; text: string; phone: string }
  /** The button of a verification template: copies `@Code`. */
  | { kind: 'code'; text: string; value: string }

export type TemplateCard = { body?: string; buttons: TemplateButton[] }

export type TemplateContent = {
  /** E-mail only. */
  subject?: string
  header?: TemplateHeader
  body: string
  footer?: string
  buttons: TemplateButton[]
  /** Carousel only: one entry per card, in order. */
  cards?: TemplateCard[]
  /** Verification on WhatsApp only: how long the code is good for, said below it. */
  codeExpiryMinutes?: number
  /** Bare names of the variables that are replaced; anything else written with `@` is plain text. */
  variables: string[]
  /** WhatsApp only: how the provider knows it. */
  provider?: {
    name: string
    language: string
    parameterFormat: 'positional' | 'named'
    category: 'marketing' | 'utility' | 'authentication'
  }
}

export type Template = {
  id: string
  name: string
  code: string
  channel: Channel
  kind: TemplateKind
  isEnabled: boolean
  approval: Approval
  /** Why the provider rejected, paused or disabled it, in its own words. */
  approvalReason?: string | null
  content: TemplateContent
}
