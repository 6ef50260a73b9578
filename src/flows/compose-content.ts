/** From what a request asks to what a driver sends: finds the template, fills variables, binds files. */
import { nameKey } from '../domain/channel.ts'
import {
  hasMoreCharacters,
  renderTemplate,
  smsProblems,
  subjectProblems,
  textLimits,
  type CompiledTemplate,
} from '../domain/compiled-template.ts'
import { mimeTypeOf } from '../domain/file-types.ts'
import { looksLikeHtml } from '../domain/html.ts'
import { mediaFileRef, readMediaUrl, type MediaFile } from '../domain/media.ts'
import type { FileRef, MessageContent } from '../domain/message.ts'
import type { Problem } from '../domain/outcome.ts'
import type { SendFile, SendRequest, WhatToSend } from '../domain/send-request.ts'
import type { Template } from '../domain/template.ts'
import {
  compileText,
  contactVariable,
  escapeHtml,
  fillText,
  headerSafe,
  numberedVariable,
  variableKey,
  type VariableContact,
  type VariableContext,
} from '../domain/variables.ts'
import type { Catalogue } from '../store/catalogue.ts'

export type VariableSource = { contact: VariableContact; context: VariableContext }

export type Composed =
  | { ok: true; content: MessageContent; template?: Template }
  | { ok: false; problems: Problem[] }

type Facts = { catalogue: Catalogue; media: ReadonlyMap<string, MediaFile> }

const codeLimit = 15

export const composeContent = (request: SendRequest, facts: Facts, source: VariableSource): Composed =>
  request.what.kind === 'template'
    ? composeTemplate(request, request.what, facts, source)
    : composeText(request, request.what, facts, source)

function composeText(
  request: SendRequest,
  what: Extract<WhatToSend, { kind: 'text' }>,
  facts: Facts,
  source: VariableSource,
): Composed {
  const problems: Problem[] = []
  const { channel } = request
  if (what.text === '' && what.files.length === 0)
    problems.push({ at: 'what', message: 'give a template, a text or a file' })
  if (channel === 'sms' && what.files.length > 0)
    problems.push({ at: 'files', message: 'files cannot be sent by SMS' })
  if (channel === 'email' && request.subject === undefined)
    problems.push({ at: 'subject', message: 'a subject is required for e-mail without template' })

  const contactValue = (key: string) => contactVariable(key, source.contact, source.context) ?? ''
  const isHtml = channel === 'email' && looksLikeHtml(what.text)
  const text = fillText(compileText(what.text), contactValue, isHtml ? escapeHtml : undefined).text
  const subject =
    channel === 'email' && request.subject !== undefined
      ? fillText(compileText(request.subject), contactValue, headerSafe).text
      : undefined
  problems.push(...subjectProblems(subject))
  if (channel === 'sms') problems.push(...smsProblems(text, 'text'))
  if (channel === 'whatsapp' && hasMoreCharacters(text, textLimits.whatsappText))
    problems.push({
      at: 'text',
      message: `the text has more than the ${textLimits.whatsappText} characters that WhatsApp takes`,
    })
  if (problems.length > 0) return { ok: false, problems }
  return {
    ok: true,
    content: {
      kind: 'text',
      text,
      subject,
      isHtml: isHtml || undefined,
      isFlash: request.isFlash || undefined,
      files: what.files.map((file) => fileRef(file, facts)),
    },
  }
}

function composeTemplate(
  request: SendRequest,
  what: Extract<WhatToSend, { kind: 'template' }>,
  facts: Facts,
  source: VariableSource,
): Composed {
  const compiled = findTemplate(what, facts.catalogue)
  if (compiled === undefined || compiled.template.channel !== request.channel)
    return {
      ok: false,
      problems: [{ at: 'template', message: `there is no ${request.channel} template of this ${what.by}` }],
    }
  const { template } = compiled
  if (template.kind === 'carousel' && request.api === 'direct')
    return {
      ok: false,
      problems: [{ at: 'template', message: 'a carousel template cannot be sent through this API' }],
    }

  const problems: Problem[] = []
  const files =
    template.kind === 'carousel'
      ? carouselFiles(compiled, what, facts, problems)
      : templateFiles(compiled, what, facts, problems)
  const given =
    template.kind === 'carousel' ? new Map<string, string>() : givenVariables(compiled, what, problems)
  const rendered = renderTemplate(compiled, {
    lookup: (key) =>
      given.get(key) ??
      contactVariable(key, source.contact, source.context) ??
      numberedVariable(key, source.contact),
    subject: request.subject,
    files,
    isFlash: request.isFlash,
  })
  if (!rendered.ok) problems.push(...rendered.problems)
  if (!rendered.ok || problems.length > 0) return { ok: false, problems }
  return { ok: true, content: rendered.content, template }
}

export const findTemplate = (
  { by, name }: Extract<WhatToSend, { kind: 'template' }>,
  { templatesByName, templatesByCode }: Catalogue,
): CompiledTemplate | undefined => (by === 'name' ? templatesByName : templatesByCode).get(nameKey(name))

function givenVariables(
  compiled: CompiledTemplate,
  what: Extract<WhatToSend, { kind: 'template' }>,
  problems: Problem[],
): Map<string, string> {
  const given = new Map<string, string>()
  const isTwice = new Set<string>()
  const give = (name: string, value: string) => {
    const key = variableKey(name)
    if (given.has(key)) isTwice.add(name)
    given.set(key, value)
  }
  for (const { name, value } of what.variables) give(name, value)
  const headerVariable = compiled.header?.variables[0]
  if (what.header && compiled.header) {
    const { key, value } = what.header
    if (key !== undefined && variableKey(key) !== headerVariable?.key)
      problems.push({ at: 'header', message: 'the header of this template has no variable of this name' })
    else if (headerVariable && value !== undefined) give(headerVariable.name, value)
  }
  for (const name of isTwice) problems.push({ at: 'variables', message: `variable ${name} is given twice` })
  const code = given.get('code')
  if (compiled.template.kind === 'verification') {
    if (code === undefined || code.trim() === '')
      problems.push({ at: 'variables', message: 'variable Code is required' })
    else if (hasMoreCharacters(code, codeLimit))
      problems.push({ at: 'variables', message: `variable Code has more than ${codeLimit} characters` })
  }
  return given
}

/** A carousel's parameters are its pictures, in order, each from the media library. */
function carouselFiles(
  compiled: CompiledTemplate,
  what: Extract<WhatToSend, { kind: 'template' }>,
  facts: Facts,
  problems: Problem[],
): FileRef[] {
  const cards = compiled.cards.length
  if (what.files.length > 0)
    problems.push({ at: 'files', message: 'a carousel takes its pictures from its parameters' })
  if (what.variables.length !== cards)
    problems.push({
      at: 'variables',
      message: `this carousel has ${cards} cards, but ${what.variables.length} parameters were given`,
    })
  return what.variables.slice(0, cards).flatMap((variable, index) => {
    const item = findMedia(variable.value, facts)
    if (item && /^(image|video)\//.test(item.mimeType)) return [mediaFileRef(item)]
    problems.push({
      at: 'variables',
      message: `parameter ${index + 1} is not the address of a picture or video of the media library`,
    })
    return []
  })
}

function templateFiles(
  compiled: CompiledTemplate,
  what: Extract<WhatToSend, { kind: 'template' }>,
  facts: Facts,
  problems: Problem[],
): FileRef[] {
  const { template } = compiled
  const header = template.content.header
  const needsMedia = template.channel === 'whatsapp' && header !== undefined && header.kind !== 'text'
  if (what.header && !compiled.header) {
    // Direct API: the value of a media header is an address.
    if (!needsMedia)
      problems.push({ at: 'header', message: 'this template has no header that takes a value' })
    else if (what.header.value !== undefined)
      return headerFile(what.header.value, header.kind, facts, problems)
  }
  if (what.files.length > 1) problems.push({ at: 'files', message: 'a template takes one file at most' })
  if (what.files.length > 0) {
    if (template.channel === 'sms') problems.push({ at: 'files', message: 'files cannot be sent by SMS' })
    if (template.channel === 'whatsapp' && !needsMedia)
      problems.push({ at: 'files', message: 'this template has no media header for a file' })
  }
  const files = what.files.map((file) => fileRef(file, facts))
  if (needsMedia && files.length === 0)
    problems.push({ at: 'files', message: `the header of this template needs a file (${header.kind})` })
  if (needsMedia && files[0] && !fitsHeader(header.kind, files[0].mimeType))
    problems.push({
      at: 'files[0]',
      message: `the header of this template takes ${header.kind}, not ${files[0].mimeType}`,
    })
  return files
}

const fitsHeader = (kind: 'image' | 'video' | 'document', mimeType: string): boolean =>
  kind === 'document' ? !/^(image|video|audio)\//.test(mimeType) : mimeType.startsWith(`${kind}/`)

function headerFile(
  url: string,
  kind: 'image' | 'video' | 'document',
  facts: Facts,
  problems: Problem[],
): FileRef[] {
  const file = readHeaderFile(url, facts, problems)
  if (file && !fitsHeader(kind, file.mimeType))
    problems.push({
      at: 'header.value',
      message: `the header of this template takes ${kind}, not ${file.mimeType}`,
    })
  return file ? [file] : []
}

function readHeaderFile(url: string, facts: Facts, problems: Problem[]): FileRef | undefined {
  const item = findMedia(url, facts)
  if (item) return mediaFileRef(item)
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const name = parsed?.pathname.split('/').at(-1) ?? ''
  const mimeType = mimeTypeOf(name)
  if (!parsed || !/^https?:$/.test(parsed.protocol) || mimeType === undefined) {
    problems.push({
      at: 'header.value',
      message: 'the header takes the http(s) address of a file with a known extension',
    })
    return undefined
  }
  return { name, mimeType, source: { kind: 'address', url } }
}

function findMedia(url: string, { media }: Facts): MediaFile | undefined {
  const named = readMediaUrl(url)
  const item = named && media.get(named.id)
  return item && item.extension === named.extension ? item : undefined
}

/** A media-library address is read from the store instead of fetched. */
function fileRef(file: SendFile, facts: Facts): FileRef {
  const item = file.content.kind === 'address' ? findMedia(file.content.url, facts) : undefined
  const source = item ? mediaFileRef(item).source : file.content
  return { name: file.name, mimeType: file.mimeType, source }
}

/** Media items that a request may name, so that a batch can load them all at once. */
export function mediaIdsOf({ what }: SendRequest): string[] {
  const urls = what.files.flatMap((file) => (file.content.kind === 'address' ? [file.content.url] : []))
  if (what.kind === 'template') {
    if (what.header?.value) urls.push(what.header.value)
    for (const { value } of what.variables) if (value.includes('/media/')) urls.push(value)
  }
  return urls.flatMap((url) => readMediaUrl(url)?.id ?? [])
}
