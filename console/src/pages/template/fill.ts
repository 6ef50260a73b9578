/** The texts of a draft as a reader will see them, by the very functions that the server fills them with. */
import { looksLikeHtml } from '../../../../src/domain/html.ts'
import type { TemplateDraft } from '../../../../src/domain/template-check.ts'
import type { TemplateButton } from '../../../../src/domain/template.ts'
import {
  compileText,
  escapeHtml,
  fillText,
  headerSafe,
  variableKey,
  whatsappParameter,
} from '../../../../src/domain/variables.ts'

export type Filled = {
  subject: string
  header: string | undefined
  body: string
  isHtml: boolean
  footer: string | undefined
  buttons: string[]
  cards: { body: string; buttons: string[] }[]
}

/** A variable without sample is shown as it is written. */
export function fillDraft(
  { channel, content }: TemplateDraft,
  samples: Readonly<Record<string, string>>,
): Filled {
  const names = new Map(content.variables.map((name) => [variableKey(name), name.replace(/^@/, '')]))
  const lookup = (key: string) => samples[key] || `@${names.get(key) ?? key}`
  const isHtml = channel === 'email' && looksLikeHtml(content.body)
  const fill = (text: string, escape?: (value: string) => string) =>
    fillText(compileText(text, content.variables), lookup, escape).text
  const ofBody = channel === 'whatsapp' ? whatsappParameter : isHtml ? escapeHtml : undefined
  const labels = (buttons: readonly TemplateButton[]) => buttons.map(({ text }) => text)
  return {
    subject: fill(content.subject ?? '', headerSafe),
    header: content.header?.kind === 'text' ? fill(content.header.text, whatsappParameter) : undefined,
    body: fill(content.body, ofBody),
    isHtml,
    footer: content.footer,
    buttons: labels(content.buttons),
    cards: (content.cards ?? []).map((card) => ({
      body: fill(card.body ?? '', whatsappParameter),
      buttons: labels(card.buttons),
    })),
  }
}
