/** A template message: its parameters against the approved template, and what the person will read. */
import type { ButtonFacts, CardFacts, MediaFacts } from '../types.ts'
import { refuse } from './errors.ts'
import type { GraphRefusal } from './errors.ts'
import { isMediaOfKind } from './media.ts'
import type { MediaStore } from './media.ts'
import type { Template, TemplateButton, TemplateComponent } from './state.ts'
import { fillIn, variablesOf } from './template-rules.ts'
import { asList, asObject, asText } from './wire.ts'
import type { JsonObject } from './wire.ts'

export type RenderedTemplate = {
  header?: string
  media?: MediaFacts
  text: string
  footer?: string
  buttons: ButtonFacts[]
  cards: CardFacts[]
}

/** Stops the reading of a message at the first thing wrong; caught where the message is judged. */
export class RefusedParameter extends Error {
  readonly refusal: GraphRefusal
  constructor(refusal: GraphRefusal) {
    super(refusal.details)
    this.refusal = refusal
  }
}
const stop = (...args: Parameters<typeof refuse>): never => {
  throw new RefusedParameter(refuse(...args))
}

const maxCodeLength = 15

function judgeContent(where: string, text: string): void {
  if (/[\n\r\t]| {5,}/.test(text)) {
    stop(
      'parameterContent',
      `${where}: Param text cannot have new-line/tab characters or more than 4 consecutive spaces.`,
    )
  }
}

function readTextParameter(where: string, parameter: JsonObject): string {
  switch (parameter.type) {
    case 'text': {
      const text =
        asText(parameter.text) ??
        stop('missingParameter', `${where}: Parameter of type text is missing text value.`)
      judgeContent(where, text)
      return text
    }
    case 'currency':
    case 'date_time': {
      const fallback = asText(asObject(parameter[parameter.type]).fallback_value)
      return fallback ?? stop('missingParameter', `${where}: ${parameter.type} needs a fallback_value.`)
    }
    default:
      return stop('parameterFormat', `${where}: expected text, received ${String(parameter.type)}.`)
  }
}

/** Values of a text's variables by name; counts and names must be the template's. */
function readValues(
  where: string,
  text: string,
  parameters: JsonObject[],
  isNamed: boolean,
): Map<string, string> {
  const names = variablesOf(text)
  if (parameters.length !== names.length) {
    stop(
      'parameterCount',
      `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (${names.length})`,
    )
  }
  const values = new Map<string, string>()
  for (const [index, parameter] of parameters.entries()) {
    const name = isNamed ? asText(parameter.parameter_name) : names[index]
    if (isNamed && (!name || !names.includes(name))) {
      stop(
        'parameterFormat',
        `${where}: parameter_name ${name ?? '(missing)'} is not one of ${names.join(', ')}.`,
      )
    }
    if (!isNamed && parameter.parameter_name !== undefined) {
      stop('parameterFormat', `${where}: this template has positional parameters, not named ones.`)
    }
    values.set(name!, readTextParameter(where, parameter))
  }
  if (values.size !== names.length) stop('parameterCount', `${where}: a parameter is given twice.`)
  return values
}

export function readMedia(
  where: string,
  kind: MediaFacts['kind'],
  value: JsonObject,
  media: MediaStore,
): MediaFacts {
  const id = asText(value.id)
  const link = asText(value.link)
  const filename = asText(value.filename)
  if (id) {
    const item = media.get(id) ?? stop('unknownMedia', `${where}: media id ${id} does not exist.`)
    if (!isMediaOfKind(kind, item.mimeType)) {
      stop('mediaWrongType', `${where}: media ${id} is ${item.mimeType}, which cannot be sent as ${kind}.`)
    }
    return { kind, id, mimeType: item.mimeType, filename: filename ?? item.filename }
  }
  if (!link) return stop('missingParameter', `${where}: ${kind} needs an id or a link.`)
  if (!/^https?:\/\/\S+$/i.test(link)) stop('invalidParameter', `${where}: link is not a URL.`)
  return { kind, link, filename }
}

function readHeader(
  component: TemplateComponent,
  parameters: JsonObject[],
  isNamed: boolean,
  media: MediaStore,
) {
  if (component.format === 'TEXT' || component.format === undefined) {
    const text = component.text ?? ''
    return { header: fillIn(text, readValues('header', text, parameters, isNamed)) }
  }
  const kind = component.format.toLowerCase()
  if (kind !== 'image' && kind !== 'video' && kind !== 'document') return {}
  const [parameter, ...more] = parameters
  if (parameter?.type !== kind || more.length > 0) {
    stop(
      'parameterFormat',
      `header: Format mismatch, expected ${component.format}, received ${asText(parameter?.type)?.toUpperCase() ?? 'UNKNOWN'}`,
    )
  }
  return { media: readMedia('header', kind, asObject(parameter![kind]), media) }
}

function readButton(button: TemplateButton, index: number, sent: JsonObject | undefined): ButtonFacts {
  const where = `buttons: Button at index ${index}`
  const [parameter] = asList(sent?.parameters)
  const subType = sent && String(sent.sub_type).toLowerCase()
  const expected = button.type.toLowerCase()
  if (sent && subType !== expected) {
    stop('parameterFormat', `${where}: expected sub_type ${expected}, received ${subType}.`)
  }
  const text = button.text ?? ''
  switch (button.type) {
    case 'QUICK_REPLY':
      return { kind: 'quick_reply', text, payload: asText(parameter?.payload) ?? text }
    case 'URL': {
      const url = button.url ?? ''
      const [name] = variablesOf(url)
      if (!name) return { kind: 'url', text, url }
      const value =
        asText(parameter?.text) ?? stop('missingParameter', `${where} of type Url requires a parameter`)
      judgeContent(where, value)
      const isCode = url.includes('/otp/code/')
      if (isCode && value.length > maxCodeLength) {
        stop('parameterContent', `${where}: a verification code has at most ${maxCodeLength} characters.`)
      }
      return isCode
        ? { kind: 'copy_code', text, code: value }
        : { kind: 'url', text, url: fillIn(url, new Map([[name, encodeURI(value)]])) }
    }
    case 'COPY_CODE': {
      const code =
        asText(parameter?.coupon_code) ??
        stop('missingParameter', `${where} of type CopyCode requires a parameter`)
      return { kind: 'copy_code', text: text || 'Copy code', code }
    }
    case 'PHONE_NUMBER':
      return { kind: 'phone_number', text, url: `tel:${button.phone_number ?? ''}` }
    default:
      return { kind: 'other', text: text || button.type }
  }
}

function readCard(
  card: { components: TemplateComponent[] },
  sent: JsonObject[],
  isNamed: boolean,
  media: MediaStore,
): CardFacts {
  const { media: picture, text, buttons } = readComponents(card.components, sent, isNamed, media)
  return { media: picture, text, buttons }
}

function readComponents(
  components: TemplateComponent[],
  sent: JsonObject[],
  isNamed: boolean,
  media: MediaStore,
): RenderedTemplate {
  const sentOf = (type: string) => sent.find((component) => String(component.type).toLowerCase() === type)
  const has = (type: string) => components.some((component) => component.type === type)
  const result: RenderedTemplate = { text: '', buttons: [], cards: [] }
  for (const type of ['header', 'body', 'carousel']) {
    if (sentOf(type) && !has(type.toUpperCase())) stop('parameterFormat', `The template has no ${type}.`)
  }
  for (const component of components) {
    switch (component.type) {
      case 'HEADER':
        Object.assign(result, readHeader(component, asList(sentOf('header')?.parameters), isNamed, media))
        break
      case 'BODY': {
        const text = component.text ?? ''
        result.text = fillIn(text, readValues('body', text, asList(sentOf('body')?.parameters), isNamed))
        break
      }
      case 'FOOTER':
        result.footer = component.text
        break
      case 'BUTTONS': {
        const buttons = component.buttons ?? []
        const given = sent.filter((part) => String(part.type).toLowerCase() === 'button')
        const extra = given.find((part) => !buttons[Number(part.index)])
        if (extra)
          stop('parameterFormat', `buttons: the template has no button at index ${String(extra.index)}.`)
        result.buttons = buttons.map((button, index) =>
          readButton(
            button,
            index,
            given.find((part) => Number(part.index) === index),
          ),
        )
        break
      }
      case 'CAROUSEL': {
        const cards = component.cards ?? []
        const given = asList(sentOf('carousel')?.cards)
        if (given.length !== cards.length) {
          stop('parameterFormat', `carousel: ${given.length} cards sent, the template has ${cards.length}.`)
        }
        result.cards = cards.map((card, index) => {
          const own = given.find((part, place) => Number(part.card_index ?? place) === index)
          if (!own) return stop('parameterFormat', `carousel: card_index ${index} is missing.`)
          return readCard(card, asList(own.components), isNamed, media)
        })
        break
      }
      default:
        break
    }
  }
  return result
}

export function renderTemplateMessage(
  template: Template,
  sent: unknown,
  media: MediaStore,
): RenderedTemplate {
  const result = readComponents(
    template.components,
    asList(sent),
    template.parameterFormat === 'NAMED',
    media,
  )
  if (result.text.length > 1024)
    stop('renderedTooLong', `body: ${result.text.length} characters, at most 1024.`)
  if ((result.header ?? '').length > 60)
    stop('renderedTooLong', `header: ${result.header!.length} characters, at most 60.`)
  return result
}
