/** A WhatsApp template as the provider's API takes it when it is registered. */
import type { Template, TemplateButton, TemplateContent } from './template.ts'
import { compileText } from './variables.ts'

export type ProviderTemplate = {
  name: string
  language: string
  category: string
  parameter_format: string
  components: Record<string, unknown>[]
}

export function toProviderTemplate({ kind, content }: Template): ProviderTemplate {
  const { provider } = content
  if (provider === undefined) throw new Error('Only WhatsApp templates are known to a provider.')
  return {
    name: provider.name,
    language: provider.language,
    category: provider.category.toUpperCase(),
    parameter_format: provider.parameterFormat.toUpperCase(),
    components:
      kind === 'verification' && provider.category === 'authentication'
        ? authenticationComponents(content)
        : components(content),
  }
}

/** The provider words an authentication template itself; only the button's text and the minutes are ours. */
const authenticationComponents = (content: TemplateContent) => [
  { type: 'BODY' },
  ...(content.codeExpiryMinutes === undefined
    ? []
    : [{ type: 'FOOTER', code_expiration_minutes: content.codeExpiryMinutes }]),
  {
    type: 'BUTTONS',
    buttons: content.buttons.map(({ text }) => ({ type: 'OTP', otp_type: 'COPY_CODE', text })),
  },
]

function components(content: TemplateContent): Record<string, unknown>[] {
  const { header, footer, buttons, cards } = content
  return [
    ...(header ? [headerComponent(header, content)] : []),
    textComponent('BODY', content.body, content),
    ...(footer ? [{ type: 'FOOTER', text: footer }] : []),
    ...(buttons.length > 0 ? [buttonsComponent(buttons, content)] : []),
    ...(cards
      ? [
          {
            type: 'CAROUSEL',
            cards: cards.map((card) => ({
              components: [
                { type: 'HEADER', format: 'IMAGE' },
                ...(card.body ? [textComponent('BODY', card.body, content)] : []),
                ...(card.buttons.length > 0 ? [buttonsComponent(card.buttons, content)] : []),
              ],
            })),
          },
        ]
      : []),
  ]
}

function headerComponent(header: NonNullable<TemplateContent['header']>, content: TemplateContent) {
  if (header.kind !== 'text') return { type: 'HEADER', format: header.kind.toUpperCase() }
  return { ...textComponent('HEADER', header.text, content), format: 'TEXT' }
}

/** `@Name` becomes `{{1}}`, numbered by first use in this text, or `{{name}}` for a named template. */
function placeholders(text: string, content: TemplateContent) {
  const compiled = compileText(text, content.variables)
  const isNamed = content.provider?.parameterFormat === 'named'
  const shown = new Map(
    compiled.variables.map((variable, at) => [variable, isNamed ? variable.key : String(at + 1)]),
  )
  return {
    text: compiled.pieces
      .map((piece) => (typeof piece === 'string' ? piece : `{{${shown.get(piece)}}}`))
      .join(''),
    samples: compiled.variables.map(({ name }) => name),
  }
}

/** The provider wants a sample of every variable; its name says what it is. */
function textComponent(type: 'HEADER' | 'BODY', given: string, content: TemplateContent) {
  const { text, samples } = placeholders(given, content)
  if (samples.length === 0) return { type, text }
  return { type, text, example: type === 'BODY' ? { body_text: [samples] } : { header_text: samples } }
}

const buttonsComponent = (buttons: readonly TemplateButton[], content: TemplateContent) => ({
  type: 'BUTTONS',
  buttons: buttons.map((button) => providerButton(button, content)),
})

function providerButton(button: TemplateButton, content: TemplateContent) {
  switch (button.kind) {
    case 'quick_reply':
      return { type: 'QUICK_REPLY', text: button.text }
    case 'url': {
      const { text: url, samples } = placeholders(button.url, content)
      return { type: 'URL', text: button.text, url, ...(samples.length > 0 && { example: samples }) }
    }
    case 'phone':
      return { type: 'PHONE_NUMBER', text: button.text, phone_number: button.phone }
    // Outside of authentication templates a code is copied by the same button as a coupon's.
    case 'code':
      return {
        type: 'URL',
        text: button.text,
        url: 'https://www.whatsapp.com/otp/code/?code={{1}}',
        example: ['1'],
      }
  }
}
