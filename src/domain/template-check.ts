/** What must hold of a template before it is saved. Pure; every problem is named, all at once. */
import type { Channel } from './channel.ts'
import { checkName, countCharacters, type FieldProblem } from './saved.ts'
import { measureSms } from './sms-text.ts'
import type { TemplateButton, TemplateContent, TemplateKind } from './template.ts'
import { compileText, contactVariableNames, variableKey, variablesIn } from './variables.ts'

export type TemplateDraft = {
  name: string
  code: string
  channel: Channel
  kind: TemplateKind
  content: TemplateContent
}

/** The provider's limits for WhatsApp; ours for the others. */
const limits = {
  whatsappBody: 1024,
  whatsappHeader: 60,
  whatsappFooter: 60,
  cardBody: 160,
  buttonText: 25,
  buttons: 10,
  emailBody: 500_000,
  emailSubject: 998,
  smsSegments: 10,
  /** What the provider takes for an authentication template. */
  codeExpiryMinutes: 90,
  variables: 100,
} as const

const problem = (field: string, message: string): FieldProblem => ({ field, message })

export function checkTemplate(draft: TemplateDraft): FieldProblem[] {
  return [
    ...checkName('name', draft.name),
    ...checkName('code', draft.code),
    ...(draft.content.body.trim() === '' ? [problem('body', 'must not be empty')] : []),
    ...checkVariables(draft.content),
    ...checkKind(draft),
    ...checkExpiry(draft),
    ...checkChannel(draft),
  ]
}

/** Every text of a template that is filled with variables. */
export function templateTexts(content: TemplateContent): string[] {
  const buttonTexts = (buttons: readonly TemplateButton[]) =>
    buttons.flatMap((button) =>
      button.kind === 'url' ? [button.url] : button.kind === 'code' ? [button.value] : [],
    )
  return [
    content.subject ?? '',
    content.header?.kind === 'text' ? content.header.text : '',
    content.body,
    ...buttonTexts(content.buttons),
    ...(content.cards ?? []).flatMap((card) => [card.body ?? '', ...buttonTexts(card.buttons)]),
  ]
}

const wholeName = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*$/u
const contactKeys = new Set(contactVariableNames.map(variableKey))

function checkVariables(content: TemplateContent): FieldProblem[] {
  const problems: FieldProblem[] = []
  const declared = new Set<string>()
  if (content.variables.length > limits.variables)
    return [problem('variables', `must be at most ${limits.variables}`)]
  for (const name of content.variables) {
    const bare = name.trim().replace(/^@/, '')
    if (!wholeName.test(bare))
      problems.push(problem('variables', `"${name}" is not a variable's name: letters, digits and _ only`))
    else if (declared.has(variableKey(bare)))
      problems.push(problem('variables', `"${name}" is declared twice`))
    declared.add(variableKey(bare))
  }
  const used = new Map(
    templateTexts(content)
      .flatMap((text) => variablesIn(text))
      .map((name) => [variableKey(name), name]),
  )
  for (const name of content.variables)
    if (!used.has(variableKey(name)))
      problems.push(problem('variables', `"${name}" is declared but not used`))
  // Anything else with an @ may be plain text (a style sheet's @media, a name of a social network), these may not.
  for (const [key, name] of used)
    if (!declared.has(key) && (contactKeys.has(key) || /^\d+$/.test(key) || key === 'code'))
      problems.push(problem('variables', `@${name} is used but not declared`))
  return problems
}

function checkKind(draft: TemplateDraft): FieldProblem[] {
  const { content } = draft
  switch (draft.kind) {
    case 'text':
      return content.cards === undefined ? [] : [problem('cards', 'belong to a carousel only')]
    case 'carousel':
      return checkCarousel(draft)
    case 'verification':
      return checkVerification(draft)
  }
}

function checkCarousel({ channel, content }: TemplateDraft): FieldProblem[] {
  const problems: FieldProblem[] = []
  const cards = content.cards ?? []
  if (channel !== 'whatsapp') problems.push(problem('channel', 'must be WhatsApp for a carousel'))
  if (content.header !== undefined) problems.push(problem('header', 'is not possible on a carousel'))
  if (content.buttons.length > 0) problems.push(problem('buttons', 'of a carousel belong to its cards'))
  if (cards.length < 2 || cards.length > 10) problems.push(problem('cards', 'must be from 2 to 10'))
  const shape = (buttons: readonly TemplateButton[]) => buttons.map(({ kind }) => kind).join(',')
  cards.forEach((card, index) => {
    const field = `cards[${index}]`
    if (countCharacters(card.body ?? '') > limits.cardBody)
      problems.push(problem(`${field}.body`, `must have at most ${limits.cardBody} characters`))
    if (Boolean(card.body) !== Boolean(cards[0]!.body) || shape(card.buttons) !== shape(cards[0]!.buttons))
      problems.push(problem(field, 'must have the same parts as the first card'))
    if (card.buttons.length > 2) problems.push(problem(`${field}.buttons`, 'must be at most 2'))
    problems.push(...checkButtons(card.buttons, `${field}.buttons`, content.variables))
  })
  return problems
}

/** The provider writes the sentence, and on authentication templates alone. */
function checkExpiry({ channel, kind, content }: TemplateDraft): FieldProblem[] {
  const { codeExpiryMinutes: minutes } = content
  if (minutes === undefined) return []
  if (
    channel !== 'whatsapp' ||
    kind !== 'verification' ||
    providerCategory(kind, content) !== 'authentication'
  )
    return [problem('codeExpiryMinutes', 'belongs to WhatsApp verification templates with @Code alone')]
  return Number.isInteger(minutes) && minutes >= 1 && minutes <= limits.codeExpiryMinutes
    ? []
    : [problem('codeExpiryMinutes', `must be from 1 to ${limits.codeExpiryMinutes} minutes`)]
}

const uses = (text: string, name: string) => variablesIn(text).some((used) => variableKey(used) === name)

function checkVerification({ channel, content }: TemplateDraft): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (!content.variables.some((name) => variableKey(name) === 'code'))
    problems.push(problem('variables', 'must declare Code on a verification template'))
  if (!uses(content.body, 'code')) problems.push(problem('body', 'must use @Code on a verification template'))
  // SMS and e-mail have no buttons; there the code in the text is all there is.
  const button = content.buttons.find(
    (candidate) =>
      (candidate.kind === 'code' && uses(candidate.value, 'code')) ||
      (candidate.kind === 'url' && uses(candidate.url, 'code')),
  )
  if (channel === 'whatsapp' && (button === undefined || content.buttons.length !== 1))
    problems.push(problem('buttons', 'must be one button that uses @Code on a verification template'))
  if (content.header !== undefined)
    problems.push(problem('header', 'is not possible on a verification template'))
  if (content.cards !== undefined) problems.push(problem('cards', 'belong to a carousel only'))
  return problems
}

function checkChannel(draft: TemplateDraft): FieldProblem[] {
  switch (draft.channel) {
    case 'whatsapp':
      return checkWhatsApp(draft)
    case 'sms':
      return checkSms(draft)
    case 'email':
      return checkEmail(draft)
  }
}

const onlyWhatsApp = ({ content }: TemplateDraft): FieldProblem[] => [
  ...(content.header ? [problem('header', 'belongs to WhatsApp templates only')] : []),
  ...(content.footer ? [problem('footer', 'belongs to WhatsApp templates only')] : []),
  ...(content.buttons.length > 0 ? [problem('buttons', 'belong to WhatsApp templates only')] : []),
]

function checkSms(draft: TemplateDraft): FieldProblem[] {
  const problems = onlyWhatsApp(draft)
  if (draft.content.subject) problems.push(problem('subject', 'belongs to e-mail templates only'))
  if (measureSms(draft.content.body).segments > limits.smsSegments)
    problems.push(problem('body', `must fit in ${limits.smsSegments} SMS segments`))
  return problems
}

function checkEmail(draft: TemplateDraft): FieldProblem[] {
  const problems = onlyWhatsApp(draft)
  const { subject = '', body } = draft.content
  if (subject.trim() === '') problems.push(problem('subject', 'must not be empty on an e-mail template'))
  if (/[\r\n]/.test(subject)) problems.push(problem('subject', 'must be one line'))
  if (countCharacters(subject) > limits.emailSubject)
    problems.push(problem('subject', `must have at most ${limits.emailSubject} characters`))
  if (countCharacters(body) > limits.emailBody)
    problems.push(problem('body', `must have at most ${limits.emailBody} characters`))
  return problems
}

function checkWhatsApp({ kind, content }: TemplateDraft): FieldProblem[] {
  const problems: FieldProblem[] = []
  const { header, body, footer = '', provider, variables } = content
  if (content.subject) problems.push(problem('subject', 'belongs to e-mail templates only'))
  if (countCharacters(body) > limits.whatsappBody)
    problems.push(problem('body', `must have at most ${limits.whatsappBody} characters`))
  // The provider words the body of an authentication template (`@Code` alone) itself, and begins it with the code.
  const isAuthentication = kind === 'verification' && variables.length === 1
  if (!isAuthentication) problems.push(...checkVariablePlaces(body, variables))
  if (header?.kind === 'text') {
    if (header.text.trim() === '') problems.push(problem('header', 'must not be empty'))
    if (countCharacters(header.text) > limits.whatsappHeader)
      problems.push(problem('header', `must have at most ${limits.whatsappHeader} characters`))
    if (compileText(header.text, variables).variables.length > 1)
      problems.push(problem('header', 'must have at most one variable'))
  }
  if (countCharacters(footer) > limits.whatsappFooter)
    problems.push(problem('footer', `must have at most ${limits.whatsappFooter} characters`))
  if (compileText(footer, variables).variables.length > 0)
    problems.push(problem('footer', 'must have no variables'))
  problems.push(...checkButtons(content.buttons, 'buttons', variables))
  if (provider === undefined)
    problems.push(problem('provider', 'must say the name and language that WhatsApp knows the template by'))
  else {
    if (!/^[a-z0-9_]{1,512}$/.test(provider.name))
      problems.push(problem('provider.name', 'must be 1 to 512 lower-case letters, digits or _'))
    if (!/^[a-z]{2,3}(_[A-Z]{2,4})?$/.test(provider.language))
      problems.push(problem('provider.language', 'must be a language code such as en or pt_BR'))
  }
  return problems
}

function checkVariablePlaces(body: string, variables: readonly string[]): FieldProblem[] {
  const pieces = compileText(body.trim(), variables).pieces
  const problems: FieldProblem[] = []
  if (typeof pieces[0] === 'object' || typeof pieces.at(-1) === 'object')
    problems.push(problem('body', 'must not begin or end with a variable'))
  if (pieces.some((piece, at) => typeof piece === 'object' && isNextVariable(pieces, at)))
    problems.push(problem('body', 'must have words between two variables'))
  return problems
}

const isNextVariable = (pieces: readonly unknown[], at: number) => {
  const next = pieces[at + 1]
  return (
    typeof next === 'object' ||
    (typeof next === 'string' && next.trim() === '' && typeof pieces[at + 2] === 'object')
  )
}

function checkButtons(
  buttons: readonly TemplateButton[],
  field: string,
  variables: readonly string[],
): FieldProblem[] {
  const problems: FieldProblem[] = []
  const count = (kind: TemplateButton['kind']) => buttons.filter((button) => button.kind === kind).length
  if (buttons.length > limits.buttons) problems.push(problem(field, `must be at most ${limits.buttons}`))
  if (count('url') > 2) problems.push(problem(field, 'must have at most 2 that open an address'))
  if (count('phone') > 1) problems.push(problem(field, 'must have at most 1 that calls a number'))
  if (count('code') > 1) problems.push(problem(field, 'must have at most 1 that copies a code'))
  buttons.forEach((button, index) => {
    const at = `${field}[${index}]`
    if (button.text.trim() === '' || countCharacters(button.text) > limits.buttonText)
      problems.push(problem(`${at}.text`, `must have from 1 to ${limits.buttonText} characters`))
    if (button.kind === 'url') problems.push(...checkUrl(button.url, `${at}.url`, variables))
    if (button.kind === 'phone' && !/^\+?[1-9]\d{7,14}$/.test(button.phone))
      problems.push(problem(`${at}.phone`, 'must be 8 to 15 digits with country code'))
    if (button.kind === 'code' && !/^\s*@code\s*$/i.test(button.value))
      problems.push(problem(`${at}.value`, 'must be @Code'))
  })
  return problems
}

function checkUrl(url: string, field: string, variables: readonly string[]): FieldProblem[] {
  const { pieces, variables: used } = compileText(url, variables)
  if (!/^https?:\/\//i.test(url) || url.length > 2000)
    return [problem(field, 'must start with https:// and have at most 2000 characters')]
  if (used.length > 1 || (used.length === 1 && typeof pieces.at(-1) !== 'object'))
    return [problem(field, 'may have one variable, at its end')]
  return []
}

/** A code alone is authentication, further variables make it utility: the provider allows nothing else. */
export function providerCategory(
  kind: TemplateKind,
  content: TemplateContent,
): 'marketing' | 'utility' | 'authentication' {
  switch (kind) {
    case 'carousel':
      return 'marketing'
    case 'verification':
      return content.variables.every((name) => variableKey(name) === 'code') ? 'authentication' : 'utility'
    case 'text':
      return content.provider?.category ?? 'utility'
  }
}
