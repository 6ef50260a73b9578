/** What is being written, as the form holds it, and the way to and from the template of the API. */
import type { TemplateDraft } from '../../../../src/domain/template-check.ts'
import { providerCategory, templateTexts } from '../../../../src/domain/template-check.ts'
import type { TemplateButton, TemplateContent, TemplateKind } from '../../../../src/domain/template.ts'
import { contactVariableNames, variableKey, variablesIn } from '../../../../src/domain/variables.ts'
import type { AnswerOf } from '../../api.ts'
import type { Channel } from '../../components/state-badge.tsx'

export type TemplateRecord = AnswerOf<'GET /templates/:id'>
export type ButtonKind = TemplateButton['kind']
export type DraftButton = { key: string; kind: ButtonKind; text: string; url: string; phone: string }
export type DraftCard = { key: string; body: string; buttons: DraftButton[] }
export type HeaderKind = 'none' | 'text' | 'image' | 'video' | 'document'
type Category = 'utility' | 'marketing'

export type Draft = {
  name: string
  code: string
  subject: string
  headerKind: HeaderKind
  headerText: string
  body: string
  footer: string
  buttons: DraftButton[]
  cards: DraftCard[]
  codeExpiryMinutes: number | string
  /** Given with each message; those of the contact declare themselves by being used. */
  ownVariables: string[]
  providerName: string
  language: string
  category: Category
  parameterFormat: 'positional' | 'named'
}

export type Shape = { channel: Channel; kind: TemplateKind }

export const kindsOf = (channel: Channel): TemplateKind[] =>
  channel === 'whatsapp' ? ['text', 'carousel', 'verification'] : ['text', 'verification']

export const newButton = (kind: ButtonKind = 'quick_reply', words = ''): DraftButton => ({
  key: crypto.randomUUID(),
  kind,
  text: words,
  url: '',
  phone: '',
})
export const newCard = (buttons: readonly DraftButton[] = []): DraftCard => ({
  key: crypto.randomUUID(),
  body: '',
  // Cards have the same parts: a new one begins with those of the others.
  buttons: buttons.map((button) => ({ ...button, key: crypto.randomUUID() })),
})

export const emptyDraft = ({ channel, kind }: Shape): Draft => ({
  name: '',
  code: '',
  subject: '',
  headerKind: 'none',
  headerText: '',
  body: kind === 'verification' ? '@Code is your verification code.' : '',
  footer: '',
  buttons: kind === 'verification' && channel === 'whatsapp' ? [newButton('code', 'Copy code')] : [],
  cards: kind === 'carousel' ? [newCard(), newCard()] : [],
  codeExpiryMinutes: '',
  ownVariables: [],
  providerName: '',
  language: 'en',
  category: 'utility',
  parameterFormat: 'positional',
})

type WireButton = NonNullable<TemplateRecord['content']['buttons']>[number]
const buttonFrom = ({ kind, text, url, phone }: WireButton): DraftButton => ({
  ...newButton(kind, text),
  url: url ?? '',
  phone: phone ?? '',
})

export function draftOf(template: TemplateRecord): Draft {
  const { name, code, content } = template
  return {
    name,
    code,
    subject: content.subject ?? '',
    headerKind: content.header?.kind ?? 'none',
    headerText: content.header?.text ?? '',
    body: content.body,
    footer: content.footer ?? '',
    buttons: (content.buttons ?? []).map(buttonFrom),
    cards: (content.cards ?? []).map((card) => ({
      key: crypto.randomUUID(),
      body: card.body ?? '',
      buttons: (card.buttons ?? []).map(buttonFrom),
    })),
    codeExpiryMinutes: content.codeExpiryMinutes ?? '',
    ownVariables: (content.variables ?? []).filter((variable) => !isKnown(variable)),
    providerName: content.provider?.name ?? '',
    language: content.provider?.language ?? 'en',
    category: content.provider?.category === 'marketing' ? 'marketing' : 'utility',
    parameterFormat: content.provider?.parameterFormat ?? 'positional',
  }
}

const contactKeys = new Set(contactVariableNames.map(variableKey))

/** Filled without being asked for: of the contact, numbered by its jokers, or the code. They cannot be plain text. */
export const isKnown = (name: string): boolean => {
  const key = variableKey(name)
  return contactKeys.has(key) || /^\d+$/.test(key) || key === 'code'
}

const buttonOf = ({ kind, text, url, phone }: DraftButton): TemplateButton => {
  switch (kind) {
    case 'quick_reply':
      return { kind, text }
    case 'url':
      return { kind, text, url: url.trim() }
    case 'phone':
      return { kind, text, phone: phone.trim() }
    case 'code':
      return { kind, text, value: '@Code' }
  }
}

export function templateOf(draft: Draft, { channel, kind }: Shape): TemplateDraft {
  const isWhatsApp = channel === 'whatsapp'
  const { headerKind } = draft
  const content: TemplateContent = {
    ...(channel === 'email' && { subject: draft.subject }),
    ...(isWhatsApp &&
      headerKind !== 'none' && {
        header: headerKind === 'text' ? { kind: 'text', text: draft.headerText } : { kind: headerKind },
      }),
    body: draft.body,
    ...(isWhatsApp && draft.footer !== '' && { footer: draft.footer }),
    buttons: isWhatsApp ? draft.buttons.map(buttonOf) : [],
    ...(kind === 'carousel' && {
      cards: draft.cards.map((card) => ({
        ...(card.body !== '' && { body: card.body }),
        buttons: card.buttons.map(buttonOf),
      })),
    }),
    ...(draft.codeExpiryMinutes !== '' && { codeExpiryMinutes: Number(draft.codeExpiryMinutes) }),
    variables: [],
  }
  content.variables = [...usedNames(content).filter(isKnown), ...draft.ownVariables]
  if (isWhatsApp)
    content.provider = {
      name: draft.providerName.trim(),
      language: draft.language.trim(),
      parameterFormat: draft.parameterFormat,
      category: draft.category,
    }
  if (content.provider) content.provider.category = providerCategory(kind, content)
  return { name: draft.name, code: draft.code, channel, kind, content }
}

/** Each name once, as first spelled. */
export function usedNames(content: TemplateContent): string[] {
  const names = new Map<string, string>()
  for (const name of templateTexts(content).flatMap((text) => variablesIn(text)))
    if (!names.has(variableKey(name))) names.set(variableKey(name), name)
  return [...names.values()]
}

const plain = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
export const codeFrom = (name: string): string => plain(name).replaceAll(' ', '-').slice(0, 100)
export const providerNameFrom = (name: string): string => plain(name).replaceAll(' ', '_').slice(0, 100)
