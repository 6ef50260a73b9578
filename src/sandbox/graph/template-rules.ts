/** Creating a template: the provider's rules for names, lengths, variables, samples and buttons. */
import { refuse } from './errors.ts'
import type { GraphRefusal } from './errors.ts'
import { newGraphId } from './state.ts'
import type { Template, TemplateButton, TemplateComponent } from './state.ts'
import { asList, asObject, asText, isObject } from './wire.ts'
import type { JsonObject } from './wire.ts'

const categories = ['MARKETING', 'UTILITY', 'AUTHENTICATION']
const variablePattern = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g

/** Names of the variables of a text, each once, in order. */
export const variablesOf = (text: string | undefined): string[] => [
  ...new Set([...(text ?? '').matchAll(variablePattern)].map((match) => match[1]!)),
]

export const fillIn = (text: string, values: Map<string, string>): string =>
  text.replaceAll(variablePattern, (whole, name: string) => values.get(name) ?? whole)

/** The provider writes these itself; `{{1}}` is the code. */
function authenticationBody(language: string, hasAdvice: boolean): string {
  const isPortuguese = language.startsWith('pt')
  const sentence = isPortuguese
    ? '*{{1}}* é seu código de verificação.'
    : '*{{1}}* is your verification code.'
  const advice = isPortuguese
    ? ' Para sua segurança, não o compartilhe.'
    : ' For your security, do not share this code.'
  return sentence + (hasAdvice ? advice : '')
}

/** Stored as the provider gives it back: an OTP button becomes a URL button, the fixed texts are filled in. */
function authenticationComponents(components: TemplateComponent[], language: string): TemplateComponent[] {
  return components.map((component) => {
    if (component.type === 'BODY') {
      return {
        ...component,
        text: authenticationBody(language, component.add_security_recommendation === true),
      }
    }
    if (component.type === 'FOOTER' && component.code_expiration_minutes !== undefined) {
      return { ...component, text: `This code expires in ${component.code_expiration_minutes} minutes.` }
    }
    if (component.type !== 'BUTTONS') return component
    const buttons = (component.buttons ?? []).map((button): TemplateButton =>
      button.type === 'OTP'
        ? {
            type: 'URL',
            text: button.text ?? 'Copy code',
            url: `https://www.whatsapp.com/otp/code/?otp_type=${button.otp_type ?? 'COPY_CODE'}&code=otp{{1}}`,
          }
        : button,
    )
    return { ...component, buttons }
  })
}

function readComponent(value: JsonObject): TemplateComponent {
  const component = { ...value, type: String(value.type).toUpperCase() } as TemplateComponent
  if (typeof value.format === 'string') component.format = value.format.toUpperCase()
  if (Array.isArray(value.buttons)) {
    component.buttons = asList(value.buttons).map((button) => ({
      ...button,
      type: String(button.type).toUpperCase(),
    }))
  }
  if (Array.isArray(value.cards)) {
    component.cards = asList(value.cards).map((card) => ({
      components: asList(card.components).map(readComponent),
    }))
  }
  return component
}

const faultInText = (where: string, text: string | undefined, max: number): string | undefined =>
  text === undefined || text === ''
    ? `${where} needs text.`
    : text.length > max
      ? `${where} must be at most ${max} characters long.`
      : undefined

function faultInVariables(where: string, component: TemplateComponent, isNamed: boolean): string | undefined {
  const text = component.text ?? ''
  const names = variablesOf(text)
  if (names.length === 0) return undefined
  if (/^\s*\{\{/.test(text) || /\}\}\s*$/.test(text)) return `${where} cannot start or end with a variable.`
  if (/\}\}\s*\{\{/.test(text)) return `${where} cannot have variables next to each other.`
  if (!isNamed && names.some((name, index) => name !== String(index + 1))) {
    return `${where} must number its variables {{1}}, {{2}}, … in order.`
  }
  return isObject(component.example) ? undefined : `${where} needs a sample for each variable (example).`
}

function faultInButtons(buttons: TemplateButton[]): string | undefined {
  const count = (type: string) => buttons.filter((button) => button.type === type).length
  if (buttons.length > 10) return 'A template has at most 10 buttons.'
  if (count('URL') > 2) return 'A template has at most 2 URL buttons.'
  if (count('PHONE_NUMBER') > 1) return 'A template has at most 1 phone number button.'
  if (count('COPY_CODE') > 1) return 'A template has at most 1 copy code button.'
  const long = buttons.find((button) => (button.text ?? '').length > 25)
  return long ? `Button text must be at most 25 characters long: ${long.text}` : undefined
}

function faultInComponents(
  components: TemplateComponent[],
  isNamed: boolean,
  bodyMax: number,
): string | undefined {
  for (const component of components) {
    const fault = (() => {
      switch (component.type) {
        case 'HEADER':
          if (component.format !== 'TEXT') return undefined
          return (
            faultInText('HEADER', component.text, 60) ??
            (variablesOf(component.text).length > 1 ? 'HEADER has at most 1 variable.' : undefined) ??
            (variablesOf(component.text).length > 0 && !isObject(component.example)
              ? 'HEADER needs a sample for its variable (example).'
              : undefined)
          )
        case 'BODY':
          return faultInText('BODY', component.text, bodyMax) ?? faultInVariables('BODY', component, isNamed)
        case 'FOOTER':
          return faultInText('FOOTER', component.text, 60)
        case 'BUTTONS':
          return faultInButtons(component.buttons ?? [])
        case 'CAROUSEL': {
          const cards = component.cards ?? []
          if (cards.length < 2 || cards.length > 10) return 'A carousel has 2 to 10 cards.'
          const shape = (card: (typeof cards)[number]) => card.components.map(({ type }) => type).join()
          if (new Set(cards.map(shape)).size > 1) return 'All cards of a carousel have the same components.'
          return cards.map((card) => faultInComponents(card.components, isNamed, 160)).find(Boolean)
        }
        default:
          return undefined
      }
    })()
    if (fault) return fault
  }
  return undefined
}

/** The template as it will be stored, or what is wrong with it. */
export function readTemplate(body: JsonObject, status: Template['status']): Template | GraphRefusal {
  const name = asText(body.name)
  const language = asText(body.language)
  const category = asText(body.category)?.toUpperCase()
  if (!name || !/^[a-z0-9_]{1,512}$/.test(name)) {
    return refuse('templateShape', 'name must be 1 to 512 characters of a-z, 0-9 and _.')
  }
  if (!language || !/^[a-z]{2,3}([_-][A-Z]{2})?$/.test(language)) {
    return refuse('templateShape', 'language must be a locale such as pt_BR or en_US.')
  }
  if (!category || !categories.includes(category)) {
    return refuse('templateShape', `category must be one of ${categories.join(', ')}.`)
  }
  const isNamed = String(body.parameter_format).toUpperCase() === 'NAMED'
  let components = asList(body.components).map(readComponent)
  if (category === 'AUTHENTICATION') components = authenticationComponents(components, language)
  if (!components.some(({ type }) => type === 'BODY'))
    return refuse('templateShape', 'components must have a BODY.')
  if (category !== 'MARKETING' && components.some(({ type }) => type === 'CAROUSEL')) {
    return refuse('templateShape', 'A carousel template must have category MARKETING.')
  }
  const fault = category === 'AUTHENTICATION' ? undefined : faultInComponents(components, isNamed, 1024)
  if (fault) return refuse('templateShape', fault)
  return {
    id: newGraphId(),
    name,
    language: language.replace('-', '_'),
    category,
    status,
    components,
    parameterFormat: isNamed ? 'NAMED' : 'POSITIONAL',
  }
}

export function showTemplate(template: Template, fields: string[] | undefined): JsonObject {
  const all: JsonObject = {
    id: template.id,
    name: template.name,
    language: template.language,
    status: template.status,
    category: template.category,
    components: template.components,
    parameter_format: template.parameterFormat,
    rejected_reason: template.rejectedReason ?? 'NONE',
    quality_score: { score: 'UNKNOWN' },
  }
  // The reason and the quality are given only to those who ask for them.
  const wanted =
    fields ?? Object.keys(all).filter((key) => key !== 'rejected_reason' && key !== 'quality_score')
  return Object.fromEntries(Object.entries(all).filter(([key]) => key === 'id' || wanted.includes(key)))
}

export const templateLanguage = (template: JsonObject): string =>
  (asText(asObject(template.language).code) ?? '').replace('-', '_')
