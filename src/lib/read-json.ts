/**
 * Reads a parsed JSON value against a TypeBox schema that serves as plain description (the same one gives the
 * types and the OpenAPI document). Not a general validator: it knows what wire bodies need, and it treats "not
 * given" as the documents' own examples do, which no validator does.
 *
 * - Documented names match without regard to case, unknown ones are ignored, one name in two spellings is an error.
 * - No coercion. `null` and the empty string mean "not given"; a schema marks the exceptions (see `Marks`).
 * - Lengths count Unicode code points. NUL and lone surrogates are refused: PostgreSQL stores neither.
 * - Only what the schema names is read; unknown fields are ignored unless they are nested beyond all reason.
 * - The value has every documented field, undefined when not given, so that all values share one hidden class.
 */
import type { Static, TSchema } from 'typebox'

/** Keywords of our own; OpenAPI allows names that start with `x-`. */
export type Marks = {
  /** The empty string is a value here. */
  'x-empty-is-value'?: boolean
  /** 0 means "not given" (phone numbers and country codes). */
  'x-zero-is-not-given'?: boolean
  /** Array: items of which nothing is given are left out. */
  'x-drop-empty-items'?: boolean
  /** Array: items that are not given stay, as null. */
  'x-null-items'?: boolean
  /** Array: the longest text of the last allowed item (`maxItems`), where it differs from the others. */
  'x-last-item-max-length'?: number
  /** What to say when `pattern` or `enum` does not fit. */
  'x-says'?: string
}

export type FieldErrors = Record<string, string[]>

export type Reading<T> =
  | {
      ok: true
      value: T
      /** For arrays that lost items: the places that the remaining ones had, by the array's path. */
      places?: Record<string, number[]>
    }
  | {
      ok: false
      errors: FieldErrors
      /** As much as could be read: wrong and missing fields are undefined. Undefined itself when it is no object. */
      partial: Partial<T> | undefined
      places: Record<string, number[]> | undefined
    }

type Node = {
  type?: string
  properties?: Record<string, Node>
  patternProperties?: Record<string, Node>
  required?: string[]
  items?: Node
  enum?: unknown[]
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  maxProperties?: number
} & Marks

type Context = {
  path: (string | number)[]
  errors: FieldErrors | undefined
  places: Record<string, number[]> | undefined
}

/** Gives the value, or undefined when it is not given or wrong; wrong ones are noted in the context. */
type Reader = (raw: unknown, context: Context, name: string | number) => unknown

export function compileReader<S extends TSchema>(schema: S): (value: unknown) => Reading<Static<S>> {
  const read = readerOf(schema)
  return (raw) => {
    const context: Context = { path: [], errors: undefined, places: undefined }
    const value = read(raw, context, '')
    if (context.errors !== undefined)
      return {
        ok: false,
        errors: context.errors,
        partial: value as Partial<Static<S>> | undefined,
        places: context.places,
      }
    return context.places === undefined
      ? { ok: true, value: value as Static<S> }
      : { ok: true, value: value as Static<S>, places: context.places }
  }
}

export function addError(errors: FieldErrors | undefined, path: string, message: string): FieldErrors {
  // Without a prototype: a path may be `__proto__` where names are the caller's.
  const all = errors ?? (Object.create(null) as FieldErrors)
  ;(all[path] ??= []).push(message)
  return all
}

function pathTo(context: Context, name: string | number): string {
  let path = ''
  for (const step of [...context.path, name])
    path += typeof step === 'number' ? `[${step}]` : path === '' ? step : step === '' ? '' : `.${step}`
  return path
}

function fail(context: Context, name: string | number, message: string): undefined {
  context.errors = addError(context.errors, pathTo(context, name), message)
  return undefined
}

function readerOf(node: Node): Reader {
  const { type = 'unknown' } = node
  switch (type) {
    case 'object':
      return node.patternProperties ? recordReader(node) : objectReader(node)
    case 'array':
      return arrayReader(node)
    case 'string':
      return stringReader(node)
    case 'integer':
      return integerReader(node)
    case 'number':
      return numberReader(node)
    case 'boolean':
      return (raw, context, name) =>
        typeof raw === 'boolean' ? raw : fail(context, name, 'must be true or false')
    default:
      throw new Error(`read-json does not know the type ${type}.`)
  }
}

/** Length in code points is compared only when the length in UTF-16 units leaves it open. */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  if (text.length > max * 2) return true
  let points = text.length
  for (let index = 0; index < text.length; index++) if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) points--
  return points > max
}

function textFault(text: string, max: number): string | undefined {
  if (isLongerThan(text, max)) return `must have at most ${max} characters`
  if (text.includes('\0')) return 'must not contain a NUL character'
  return text.isWellFormed() ? undefined : 'must not contain half of a surrogate pair'
}

function stringReader(node: Node): Reader {
  const max = node.maxLength ?? Infinity
  const pattern = node.pattern === undefined ? undefined : new RegExp(node.pattern, 'u')
  const says = node['x-says'] ?? 'has a form that is not allowed'
  const allowed = node.enum
  return (raw, context, name) => {
    if (typeof raw !== 'string') return fail(context, name, 'must be a string')
    const fault = textFault(raw, max)
    if (fault !== undefined) return fail(context, name, fault)
    if (pattern !== undefined && !pattern.test(raw)) return fail(context, name, says)
    if (allowed !== undefined && !allowed.includes(raw)) return fail(context, name, says)
    return raw
  }
}

function integerReader(node: Node): Reader {
  const { minimum = -Infinity, maximum = Infinity, enum: allowed } = node
  const says = node['x-says'] ?? `must be from ${minimum} to ${maximum}`
  return (raw, context, name) => {
    if (!Number.isSafeInteger(raw)) return fail(context, name, 'must be an integer')
    const number = raw as number
    if (number < minimum || number > maximum) return fail(context, name, says)
    if (allowed !== undefined && !allowed.includes(number)) return fail(context, name, says)
    return number
  }
}

function numberReader(node: Node): Reader {
  const { minimum = -Infinity, maximum = Infinity } = node
  const says = node['x-says'] ?? `must be from ${minimum} to ${maximum}`
  return (raw, context, name) => {
    if (typeof raw !== 'number' || !Number.isFinite(raw)) return fail(context, name, 'must be a number')
    return raw < minimum || raw > maximum ? fail(context, name, says) : raw
  }
}

const isNotGiven = (raw: unknown, node: Node): boolean =>
  raw === undefined ||
  raw === null ||
  (raw === '' && node['x-empty-is-value'] !== true) ||
  (raw === 0 && node['x-zero-is-not-given'] === true)

type Field = { name: string; index: number; node: Node; read: Reader; isRequired: boolean }

const missing = Symbol('missing')

const maxUnknownDepth = 64

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1))
}

function objectReader(node: Node): Reader {
  const fields: Field[] = Object.entries(node.properties ?? {}).map(([name, field], index) => ({
    name,
    index,
    node: field,
    read: readerOf(field),
    isRequired: node.required?.includes(name) === true,
  }))
  const nothing: unknown[] = fields.map(() => missing)
  /** Copied at once: with its fields added one by one an object moves them several times. */
  const blank: Record<string, unknown> = Object.fromEntries(fields.map((field) => [field.name, undefined]))
  const byName = new Map(fields.map((field) => [field.name, field]))
  const byLowerName = new Map(fields.map((field) => [field.name.toLowerCase(), field]))

  return (raw, context, name) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return fail(context, name, 'must be an object')
    if (name !== '') context.path.push(name)
    const given = nothing.slice()
    for (const key in raw) {
      const field = byName.get(key) ?? byLowerName.get(key.toLowerCase())
      if (field === undefined) {
        // Nobody looks at it, but nobody sends such a thing in good faith either.
        if (isDeeperThan((raw as Record<string, unknown>)[key], maxUnknownDepth))
          fail(context, key.slice(0, 64), 'is nested too deeply')
        continue
      }
      if (given[field.index] !== missing) fail(context, field.name, 'is given twice, in two spellings')
      given[field.index] = (raw as Record<string, unknown>)[key]
    }
    const value = { ...blank }
    for (const field of fields) {
      const item = given[field.index]
      if (item !== missing && !isNotGiven(item, field.node))
        value[field.name] = field.read(item, context, field.name)
      else if (field.isRequired) fail(context, field.name, 'is required')
    }
    if (name !== '') context.path.pop()
    return value
  }
}

/** A map from the caller's own names to texts; it has no prototype. */
function recordReader(node: Node): Reader {
  const item = Object.values(node.patternProperties ?? {})[0]
  if (item === undefined) throw new Error('A record needs a type for its values.')
  const read = readerOf(item)
  const maxProperties = node.maxProperties ?? 1000
  return (raw, context, name) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
      return fail(context, name, 'must be an object')
    const keys = Object.keys(raw)
    if (keys.length > maxProperties) return fail(context, name, `must have at most ${maxProperties} fields`)
    const value = Object.create(null) as Record<string, unknown>
    context.path.push(name)
    for (const key of keys) {
      const fault = textFault(key, 255)
      const entry = (raw as Record<string, unknown>)[key]
      if (fault !== undefined) fail(context, '', `has a name that ${fault}`)
      else if (!isNotGiven(entry, item)) value[key] = read(entry, context, key)
    }
    context.path.pop()
    return value
  }
}

function arrayReader(node: Node): Reader {
  const item = node.items
  if (item === undefined) throw new Error('An array needs a type for its items.')
  const read = readerOf(item)
  const maxItems = node.maxItems ?? 1000
  const lastMaxLength = node['x-last-item-max-length']
  const readLast = lastMaxLength === undefined ? read : readerOf({ ...item, maxLength: lastMaxLength })
  const itemFields = new Map(
    Object.entries(item.properties ?? {}).map(([name, field]) => [name.toLowerCase(), field]),
  )
  return (raw, context, name) => {
    if (!Array.isArray(raw)) return fail(context, name, 'must be an array')
    const items: unknown[] = []
    const places: number[] = []
    context.path.push(name)
    for (let index = 0; index < raw.length; index++) {
      const entry: unknown = raw[index]
      if (node['x-drop-empty-items'] === true && isEmptyItem(entry, itemFields)) continue
      // Counted here, so that a long tail of empty items is no error, and stopped, so that errors are bounded.
      if (items.length === maxItems) {
        fail(context, '', `must have at most ${maxItems} items`)
        break
      }
      if (node['x-null-items'] === true && isNotGiven(entry, item)) items.push(null)
      else items.push((index === maxItems - 1 ? readLast : read)(entry, context, index))
      places.push(index)
    }
    context.path.pop()
    if (items.length < raw.length && node['x-drop-empty-items'] === true) {
      context.places ??= Object.create(null) as Record<string, number[]>
      context.places[pathTo(context, name)] = places
    }
    return items
  }
}

/** Nothing in it is given; here an empty text counts as nothing even where it could be a value. */
function isEmptyItem(entry: unknown, fieldsByLowerName: ReadonlyMap<string, Node>): boolean {
  if (entry === null || entry === undefined || entry === '') return true
  if (typeof entry !== 'object' || Array.isArray(entry)) return false
  for (const key in entry) {
    const field = fieldsByLowerName.get(key.toLowerCase())
    const value = (entry as Record<string, unknown>)[key]
    if (field !== undefined && value !== '' && !isNotGiven(value, field)) return false
  }
  return true
}
