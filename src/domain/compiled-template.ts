/** A template with its texts compiled, once per change of the template, and rendered once per message. */
import { looksLikeHtml } from './html.ts'
import type { MessageContent, FileRef, TemplateButtonParameter, TemplateParameter } from './message.ts'
import { measureSms } from './sms-text.ts'
import type { Problem } from './outcome.ts'
import type { Template, TemplateButton } from './template.ts'
import {
  compileText,
  contactVariableNames,
  escapeHtml,
  fillText,
  headerSafe,
  whatsappParameter,
  type CompiledText,
  type VariableReference,
} from './variables.ts'

export const textLimits = {
  smsSegments: 10,
  whatsappText: 4096,
  whatsappTemplateBody: 1024,
  whatsappHeader: 60,
  subject: 998,
}

type CompiledButton = { index: number; button: TemplateButton; text?: CompiledText }

export type CompiledTemplate = {
  template: Template
  subject?: CompiledText
  header?: CompiledText
  body: CompiledText
  footer?: string
  buttons: CompiledButton[]
  cards: { body?: CompiledText; buttons: CompiledButton[] }[]
  isHtml: boolean
  /** May say who attends the contact. */
  mayNameAttendant: boolean
  /** For a subject given with the request: the template's variables and the contact's. */
  subjectVariables: readonly string[]
}

export function compileTemplate(template: Template): CompiledTemplate {
  const { content } = template
  const compile = (text: string) => compileText(text, content.variables)
  const compileButtons = (buttons: TemplateButton[]): CompiledButton[] =>
    buttons.map((button, index) => {
      const text = button.kind === 'url' ? button.url : button.kind === 'code' ? button.value : undefined
      return { index, button, text: text === undefined ? undefined : compile(text) }
    })
  return {
    template,
    subject: content.subject === undefined ? undefined : compile(content.subject),
    header: content.header?.kind === 'text' ? compile(content.header.text) : undefined,
    body: compile(content.body),
    footer: content.footer,
    buttons: compileButtons(content.buttons),
    cards: (content.cards ?? []).map((card) => ({
      body: card.body === undefined ? undefined : compile(card.body),
      buttons: compileButtons(card.buttons),
    })),
    isHtml: template.channel === 'email' && looksLikeHtml(content.body),
    mayNameAttendant: /attendant/i.test(JSON.stringify(content)),
    subjectVariables: [...content.variables, ...contactVariableNames],
  }
}

export type RenderInput = {
  lookup(nameKey: string): string | undefined
  /** Given with the request; wins over the template's own. */
  subject?: string
  /** At most one but for a carousel, whose cards take theirs in order. */
  files: FileRef[]
  isFlash: boolean
}

export type Rendered = { ok: true; content: MessageContent } | { ok: false; problems: Problem[] }

export function renderTemplate(compiled: CompiledTemplate, input: RenderInput): Rendered {
  return compiled.template.channel === 'whatsapp'
    ? renderForWhatsapp(compiled, input)
    : renderHere(compiled, input)
}

/** SMS and e-mail: we render, the provider transports. */
function renderHere(compiled: CompiledTemplate, input: RenderInput): Rendered {
  const { template } = compiled
  const missing = new Set<string>()
  const fill = (text: CompiledText, escape?: (value: string) => string) => {
    const filled = fillText(text, input.lookup, escape)
    for (const name of filled.missing) missing.add(name)
    return filled.text
  }
  const escape = compiled.isHtml ? escapeHtml : undefined
  const parts = [
    compiled.header && fill(compiled.header, escape),
    fill(compiled.body, escape),
    compiled.footer,
  ]
  const text = parts.filter((part) => part !== undefined && part !== '').join(compiled.isHtml ? '\n' : '\n\n')
  const givenSubject =
    input.subject === undefined ? compiled.subject : compileText(input.subject, compiled.subjectVariables)
  const subject = template.channel === 'email' && givenSubject ? fill(givenSubject, headerSafe) : undefined
  if (missing.size > 0) return { ok: false, problems: missingVariables([...missing]) }
  const problems = template.channel === 'sms' ? smsProblems(text, 'variables') : subjectProblems(subject)
  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    content: {
      kind: 'text',
      text,
      subject,
      isHtml: compiled.isHtml || undefined,
      isFlash: input.isFlash || undefined,
      files: input.files,
    },
  }
}

/** WhatsApp: the provider renders; we send parameters, and keep what the person will read as a preview. */
function renderForWhatsapp(compiled: CompiledTemplate, input: RenderInput): Rendered {
  const { template } = compiled
  const values = new Map<string, string>()
  const missing: string[] = []
  const empty: string[] = []
  const valueOf = ({ key, name }: VariableReference): string => {
    const known = values.get(key)
    if (known !== undefined) return known
    const given = input.lookup(key)
    const value = given === undefined ? '' : whatsappParameter(given)
    if (given === undefined) missing.push(name)
    else if (value === '') empty.push(name)
    values.set(key, value)
    return value
  }
  const parameters = (text: CompiledText): TemplateParameter[] =>
    text.variables.map((variable) => ({ name: variable.name, value: valueOf(variable) }))
  const buttonParameters = (buttons: CompiledButton[]): TemplateButtonParameter[] =>
    buttons.flatMap(({ index, button, text }): TemplateButtonParameter[] => {
      const [parameter] = text ? parameters(text) : []
      if (parameter === undefined) return []
      return button.kind === 'code' || template.kind === 'verification'
        ? [{ index, kind: 'code', value: parameter.value }]
        : [{ index, kind: 'url', value: parameter.value }]
    })
  const header = template.content.header
  const headerParameters = compiled.header ? parameters(compiled.header) : []
  const body = parameters(compiled.body)
  const buttons = buttonParameters(compiled.buttons)
  const cards = compiled.cards.map((card, index) => ({
    file: input.files[index]!,
    mediaKind: mediaKindOf(input.files[index]),
    body: card.body ? parameters(card.body) : [],
    buttons: buttonParameters(card.buttons),
  }))
  const problems = [...missingVariables(missing), ...emptyVariables(empty)]
  if (problems.length > 0) return { ok: false, problems }

  const filled = (text: CompiledText) => fillText(text, (key) => values.get(key)).text
  const bodyText = filled(compiled.body)
  const headerText = compiled.header ? filled(compiled.header) : undefined
  if (hasMoreCharacters(bodyText, textLimits.whatsappTemplateBody))
    problems.push({
      at: 'variables',
      message: `the filled body has ${characters(bodyText)} characters; WhatsApp takes ${textLimits.whatsappTemplateBody}`,
    })
  if (headerText !== undefined && hasMoreCharacters(headerText, textLimits.whatsappHeader))
    problems.push({
      at: 'variables',
      message: `the filled header has ${characters(headerText)} characters; WhatsApp takes ${textLimits.whatsappHeader}`,
    })
  if (problems.length > 0) return { ok: false, problems }

  const file = template.kind === 'carousel' ? undefined : input.files[0]
  return {
    ok: true,
    content: {
      kind: 'template',
      templateKind: template.kind,
      name: template.content.provider?.name ?? template.code,
      language: template.content.provider?.language ?? 'en',
      parameterFormat: template.content.provider?.parameterFormat ?? 'positional',
      header:
        header === undefined
          ? undefined
          : header.kind === 'text'
            ? { kind: 'text', parameters: headerParameters }
            : file && { kind: 'media', mediaKind: header.kind, file },
      body,
      buttons,
      cards: template.kind === 'carousel' ? cards : undefined,
      preview: [headerText, bodyText, compiled.footer].filter(Boolean).join('\n'),
    },
  }
}

/** Code points. */
const characters = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Counting costs, and within the limit the length alone decides. */
export const hasMoreCharacters = (text: string, limit: number): boolean =>
  text.length > limit && characters(text) > limit

const mediaKindOf = (file: FileRef | undefined): 'image' | 'video' =>
  file?.mimeType.startsWith('video/') ? 'video' : 'image'

const missingVariables = (names: string[]): Problem[] =>
  names.map((name) => ({ at: 'variables', message: `variable ${name} has no value` }))

const emptyVariables = (names: string[]): Problem[] =>
  names.map((name) => ({ at: 'variables', message: `variable ${name} must not be empty on WhatsApp` }))

export function smsProblems(text: string, at: 'variables' | 'text'): Problem[] {
  const { segments } = measureSms(text)
  return segments > textLimits.smsSegments
    ? [{ at, message: `the text needs ${segments} SMS segments; at most ${textLimits.smsSegments} are sent` }]
    : []
}

export const subjectProblems = (subject: string | undefined): Problem[] =>
  subject !== undefined && hasMoreCharacters(subject, textLimits.subject)
    ? [{ at: 'subject', message: `the filled subject has more than ${textLimits.subject} characters` }]
    : []
