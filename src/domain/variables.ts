/**
 * Variables in texts, written `@Name`. A template is compiled once and filled once per message; values are put in
 * as they are and never looked at for further variables.
 */
export type VariableReference = { key: string; name: string }

export type CompiledText = {
  /** Literal text and references, in order. */
  pieces: readonly (string | VariableReference)[]
  /** Each variable of the text once, in the order of first use. */
  variables: readonly VariableReference[]
}

export type FilledText = { text: string; missing: string[] }

// A combining mark belongs to its letter: some keyboards write ç as c and a cedilla.
const reference = /(?<![\p{L}\p{M}\p{N}._])@([\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*)/gu

const plainName = /^[A-Za-z0-9_]+$/

/** How names compare: without regard to case, surrounding space, a leading `@` and the way accents are typed. */
export const variableKey = (name: string): string =>
  plainName.test(name)
    ? name.toLowerCase()
    : name.trim().replace(/^@/, '').normalize('NFC').toLowerCase().normalize('NFC')

/** Everything in the text that is written like a variable, each once, as first spelled. */
export function variablesIn(text: string): string[] {
  const names = new Map<string, string>()
  for (const [, name] of text.matchAll(reference)) {
    const key = variableKey(name!)
    if (!names.has(key)) names.set(key, name!)
  }
  return [...names.values()]
}

/**
 * Only declared names are variables; all else, such as `@media` in a style sheet, is literal. Without a
 * declaration it is free text, where the contact variables are known.
 */
export function compileText(text: string, declared: readonly string[] = contactVariableNames): CompiledText {
  const known = new Map<string, VariableReference>()
  for (const name of declared) {
    const key = variableKey(name)
    if (!known.has(key)) known.set(key, { key, name: name.trim().replace(/^@/, '') })
  }
  const pieces: (string | VariableReference)[] = []
  const variables = new Set<VariableReference>()
  let literalFrom = 0
  for (const match of text.matchAll(reference)) {
    const variable = known.get(variableKey(match[1]!))
    if (variable === undefined) continue
    if (match.index > literalFrom) pieces.push(text.slice(literalFrom, match.index))
    pieces.push(variable)
    variables.add(variable)
    literalFrom = match.index + match[0].length
  }
  if (literalFrom < text.length) pieces.push(text.slice(literalFrom))
  return { pieces, variables: [...variables] }
}

/** A variable without value leaves nothing in the text and is named, as declared, in `missing`. */
export function fillText(
  compiled: CompiledText,
  lookup: (nameKey: string) => string | undefined,
  escape: (value: string) => string = (value) => value,
): FilledText {
  const missing: string[] = []
  let text = ''
  for (const piece of compiled.pieces) {
    const value = typeof piece === 'string' ? undefined : lookup(piece.key)
    if (typeof piece === 'string') text += piece
    else if (value !== undefined) text += escape(value)
    else if (!missing.includes(piece.name)) missing.push(piece.name)
  }
  return { text, missing }
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For HTML text and quoted attributes. */
export const escapeHtml = (value: string): string =>
  value.replace(/[&<>"']/g, (character) => htmlEntities[character]!)

/** For one line of a mail header: line breaks become a space, other control characters go. */
export const headerSafe = (value: string): string =>
  value
    .replace(/[\r\n\v\f\u0085\u2028\u2029]+/g, ' ')
    // oxlint-disable-next-line no-control-regex -- removing control characters is what it is for
    .replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g, '')

const untidySpace = /\s\s|[^\S ]|^\s|\s$/

/** WhatsApp refuses template parameters with line breaks, tabs or more than four spaces in a row. */
export const whatsappParameter = (value: string): string =>
  untidySpace.test(value) ? value.replace(/\s+/g, ' ').trim() : value

export const contactVariableNames = [
  'Name',
  'FirstName',
  'LastName',
  'Phone',
  'Email',
  'Id',
  'CustomCode',
  'Tag',
  'Wallet',
  'Attendant',
  'Company',
  'Joker1',
  'Joker2',
  'Joker3',
  'Joker4',
  'Joker5',
] as const

export type VariableContact = {
  name: string | null
  phone: string | null
  email: string | null
  taxId: string | null
  customCode: string | null
  tag: string | null
  walletName: string | null
  jokers: readonly (string | null)[]
}

export type VariableContext = { attendantName: string | null; companyName: string | null }

/** The contact's value, or undefined when the name is no contact variable or there is nothing to show. */
export function contactVariable(
  nameKey: string,
  contact: VariableContact,
  context: VariableContext,
): string | undefined {
  return rawContactVariable(nameKey, contact, context) || undefined
}

function rawContactVariable(
  nameKey: string,
  contact: VariableContact,
  context: VariableContext,
): string | null | undefined {
  switch (nameKey) {
    case 'name':
      return contact.name?.trim()
    case 'firstname':
      return words(contact.name)[0]
    case 'lastname':
      return words(contact.name).slice(1).at(-1)
    case 'phone':
      return contact.phone
    case 'email':
      return contact.email
    case 'id':
      return contact.taxId
    case 'customcode':
      return contact.customCode
    case 'tag':
      return contact.tag
    case 'wallet':
      return contact.walletName
    case 'attendant':
      return context.attendantName
    case 'company':
      return context.companyName
    case 'joker1':
    case 'joker2':
    case 'joker3':
    case 'joker4':
    case 'joker5':
      return contact.jokers[Number(nameKey.slice(-1)) - 1]
  }
  return undefined
}

const words = (name: string | null): string[] => name?.split(/\s+/).filter((word) => word !== '') ?? []

/** The joker that stands in for a numbered variable (`@1` takes joker 1), or undefined for other names. */
export function numberedVariable(
  nameKey: string,
  contact: Pick<VariableContact, 'jokers'>,
): string | undefined {
  return /^[1-5]$/.test(nameKey) ? contact.jokers[Number(nameKey) - 1] || undefined : undefined
}
