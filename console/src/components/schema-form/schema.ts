/** What a form needs to know of a JSON schema, as drivers describe their settings. */

export type JsonSchema = {
  type?: string
  title?: string
  description?: string
  default?: unknown
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
  /** Ours: sealed at the server, never shown again. */
  isSecret?: boolean
  /** Ours: several lines. */
  isMultiline?: boolean
}

export type FieldKind = 'text' | 'multiline' | 'secret' | 'number' | 'flag' | 'choice' | 'list' | 'object'

export type Field = {
  name: string
  schema: JsonSchema
  kind: FieldKind
  title: string
  isRequired: boolean
}

export type Values = Record<string, unknown>

/** Longer texts than this are not typed into one line. */
const longText = 2000

const kindOf = (schema: JsonSchema): FieldKind => {
  if (schema.isSecret) return 'secret'
  if (choicesOf(schema).length > 0) return 'choice'
  switch (schema.type) {
    case 'boolean':
      return 'flag'
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return 'list'
    case 'object':
      return 'object'
    case undefined:
    default:
      return schema.isMultiline || (schema.maxLength ?? 0) > longText ? 'multiline' : 'text'
  }
}

export const isLong = (schema: JsonSchema): boolean => (schema.maxLength ?? 0) > longText

export const choicesOf = ({ anyOf, enum: values }: JsonSchema): string[] =>
  (values ?? anyOf?.flatMap((one) => (one.const === undefined ? [] : [one.const])) ?? []).map(String)

/** `answerTimeoutSeconds` without a title reads "Answer timeout seconds". */
const titleOf = (name: string): string => {
  const words = name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const fieldsOf = (schema: JsonSchema): Field[] =>
  Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    schema: property,
    kind: kindOf(property),
    title: property.title ?? titleOf(name),
    // What has a default is filled in by the server when it is left out.
    isRequired: (schema.required ?? []).includes(name) && property.default === undefined,
  }))

export type FieldGroup = { name: string | undefined; fields: Field[] }

/** "Reports: list" and "Reports: status" belong together; what has no such word stands by itself. */
export function groupsOf(schema: JsonSchema): FieldGroup[] {
  const groups: FieldGroup[] = []
  for (const field of fieldsOf(schema)) {
    const [word = '', rest] = field.title.split(': ')
    const name = rest === undefined ? undefined : word
    const last = groups.at(-1)
    if (last && last.name === name) last.fields.push(field)
    else groups.push({ name, fields: [field] })
  }
  return groups
}

/** What a new record starts with. */
export const defaultsOf = (schema: JsonSchema): Values =>
  Object.fromEntries(
    fieldsOf(schema).flatMap(({ name, schema: { default: given } }) =>
      given === undefined ? [] : [[name, given]],
    ),
  )

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** What is empty is not sent; null is, because it removes a secret. */
export const filledIn = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => !isEmpty(value)))
