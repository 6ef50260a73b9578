/**
 * Bodies from a JSON schema as our OpenAPI documents have it: good ones, and good ones with one thing wrong, written
 * as JSON or as something that only begins like it.
 */
import fc, { type Arbitrary } from 'fast-check'
import type { JsonSchema } from '../../src/http/docs/openapi.ts'
import { hostileTexts, storableTexts } from './hostile-texts.ts'

/** Values for fields that must fit what is stored, by the field's name or by a prefix of ids (`usr_`). */
export type Hints = Record<string, Arbitrary<unknown>>

export type Wire = {
  /** For the message of a failing test. */
  how: string
  bytes: Buffer
  contentType: string
}

/** A value that the schema allows; one in a few texts is hostile all the same. */
export function validOf(schema: JsonSchema, hints: Hints = {}, depth = 0): Arbitrary<unknown> {
  if (Array.isArray(schema['anyOf']))
    return fc.oneof(...schema['anyOf'].map((part) => validOf(part as JsonSchema, hints, depth)))
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  const types = [schema['type']].flat()
  const type = types.find((each) => each !== 'null')
  switch (type) {
    case 'string':
      return textOf(schema, hints)
    case 'integer': {
      const { minimum = -1000, maximum = 1_000_000 } = schema as { minimum?: number; maximum?: number }
      return fc.oneof(fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31 - 1) }), fc.constant(maximum))
    }
    case 'number':
      return fc.double({
        min: (schema['minimum'] as number | undefined) ?? 0,
        max: (schema['maximum'] as number | undefined) ?? 1e6,
        noNaN: true,
      })
    case 'boolean':
      return fc.boolean()
    case 'array': {
      const items = (schema['items'] ??
        (schema['prefixItems'] as JsonSchema[] | undefined)?.[0]) as JsonSchema
      const maxLength = Math.min(4, (schema['maxItems'] as number | undefined) ?? 4)
      return fc.array(validOf(items, hints, depth + 1), { maxLength })
    }
    case 'object':
      return objectOf(schema, hints, depth)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function textOf(schema: JsonSchema, hints: Hints): Arbitrary<string> {
  const maxLength = (schema['maxLength'] as number | undefined) ?? 200
  const pattern = schema['pattern'] as string | undefined
  const prefix = pattern && /^\^\(?([a-z]{3}_)/.exec(pattern)?.[1]
  if (prefix && hints[prefix]) return hints[prefix] as Arbitrary<string>
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern))
  if (schema['format'] === 'date-time') return fc.date({ noInvalidDate: true }).map((at) => at.toISOString())
  return fc
    .oneof(
      { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: Math.min(30, maxLength) }) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) },
      { weight: 2, arbitrary: fc.constantFrom(...Object.values(storableTexts)) },
    )
    .map((text) => Array.from(text).slice(0, maxLength).join(''))
}

function objectOf(schema: JsonSchema, hints: Hints, depth: number): Arbitrary<unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const required = new Set((schema['required'] ?? []) as string[])
  if (properties.length === 0 && schema['additionalProperties'])
    return fc.dictionary(
      fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('__proto__', 'constructor', 'Date', '@Name')),
      validOf(schema['additionalProperties'] as JsonSchema, hints, depth + 1),
      { maxKeys: 4 },
    )
  return fc.record(
    Object.fromEntries(
      properties.map(([name, field]) => [name, hints[name] ?? validOf(field, hints, depth + 1)]),
    ),
    { requiredKeys: properties.map(([name]) => name).filter((name) => required.has(name)) },
  )
}

const nest = (levels: number, end: unknown, asObject: boolean): unknown => {
  let value = end
  for (let level = 0; level < levels; level++) value = asObject ? { a: value } : [value]
  return value
}

/** With `__proto__` as a field of its own, as `JSON.parse` makes it. */
const polluted = JSON.parse(
  '{"__proto__":{"isAdmin":true,"role":"administrator"},"constructor":{"prototype":{"x":1}},"toString":"x","hasOwnProperty":1}',
) as unknown

const wrongValues: Record<string, unknown> = {
  null: null,
  true: true,
  false: false,
  zero: 0,
  minusOne: -1,
  half: 0.5,
  pastSafe: 2 ** 53,
  pastInt32: 2 ** 31,
  huge: 1e308,
  tiny: 5e-324,
  digits: '9'.repeat(400),
  emptyText: '',
  longText: 'x'.repeat(70_000),
  emptyArray: [],
  emptyObject: {},
  manyItems: Array.from({ length: 3_000 }, () => 0),
  manyKeys: Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`k${index}`, index])),
  deepArray: nest(2_000, 1, false),
  deepObject: nest(2_000, 1, true),
  polluted,
  ...hostileTexts,
}

type Place = (string | number)[]

/** Every field and item of a value, as the way to it; the value itself is the empty way. */
function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at]
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((item, index) => [index, item])
    : Object.entries(value)
  return [at, ...entries.flatMap(([name, item]) => placesOf(item, [...at, name]))]
}

function withChange(
  value: unknown,
  at: Place,
  change: (holder: object, name: string | number) => void,
): unknown {
  const copy: unknown = structuredClone(value)
  const [name, ...before] = at.toReversed()
  if (name === undefined) return copy
  let holder = copy as Record<string | number, unknown>
  for (const step of before.toReversed()) holder = holder[step] as Record<string | number, unknown>
  change(holder, name)
  return copy
}

const setOwn = (holder: object, name: string | number, value: unknown) =>
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })

/** A good body with one thing wrong in it. */
export const nearlyValidOf = (valid: Arbitrary<unknown>): Arbitrary<{ how: string; value: unknown }> =>
  fc
    .tuple(valid, fc.nat(), fc.constantFrom(...Object.entries(wrongValues)), fc.nat(9))
    .map(([value, seed, [name, wrong], turn]) => {
      const places = placesOf(value)
      const at = places[seed % places.length]!
      if (at.length === 0) return { how: `the body is ${name}`, value: turn < 3 ? wrong : value }
      const where = at.join('.')
      if (turn < 2)
        return {
          how: `without ${where}`,
          value: withChange(value, at, (holder, key) => void Reflect.deleteProperty(holder, key)),
        }
      if (turn < 3)
        return {
          how: `${where} in two spellings`,
          value: withChange(
            value,
            at,
            (holder, key) => void setOwn(holder, String(key).toUpperCase(), wrong),
          ),
        }
      if (turn < 4)
        return {
          how: `${name} beside ${where}`,
          value: withChange(value, at, (holder) => void setOwn(holder, '__proto__', wrong)),
        }
      return {
        how: `${where} is ${name}`,
        value: withChange(value, at, (holder, key) => void setOwn(holder, key, wrong)),
      }
    })

const json = 'application/json'
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '', 'utf8')

type Writing = (bytes: Buffer) => Omit<Wire, 'how'>

/** Ways to write a body that is not, or not only, the JSON it was. */
const writings: Record<string, Writing> = {
  'as form': (bytes) => ({ bytes, contentType: 'application/x-www-form-urlencoded' }),
  'as text': (bytes) => ({ bytes, contentType: 'text/plain' }),
  'as multipart': (bytes) => ({ bytes, contentType: 'multipart/form-data; boundary=x' }),
  'as JSON in latin1': (bytes) => ({ bytes, contentType: 'application/json; charset=iso-8859-1' }),
  'of a nonsense type': (bytes) => ({ bytes, contentType: ';;;/' }),
  'with a byte order mark': (bytes) => ({
    bytes: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    contentType: json,
  }),
  'cut in half': (bytes) => ({ bytes: bytes.subarray(0, bytes.length >> 1), contentType: json }),
  'without its end': (bytes) => ({ bytes: bytes.subarray(0, -1), contentType: json }),
  'with more behind it': (bytes) => ({ bytes: Buffer.concat([bytes, Buffer.from('}x')]), contentType: json }),
  'with every field twice': (bytes) => {
    const text = bytes.toString('utf8')
    return text.startsWith('{') && text.length > 2
      ? { bytes: Buffer.from(`${text.slice(0, -1)},${text.slice(1)}`), contentType: json }
      : { bytes, contentType: json }
  },
  'with bytes that are no UTF-8': (bytes) => ({
    bytes: Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xff, 0xc0, 0x80]), bytes.subarray(2)]),
    contentType: json,
  }),
  'in UTF-16': (bytes) => ({ bytes: Buffer.from(bytes.toString('utf8'), 'utf16le'), contentType: json }),
  'as nothing': () => ({ bytes: Buffer.alloc(0), contentType: json }),
  'as brackets alone': () => ({ bytes: Buffer.from('['.repeat(50_000)), contentType: json }),
  'as numbers past all reason': () => ({
    bytes: Buffer.from('{"a":1e999999,"b":-0,"c":01}'),
    contentType: json,
  }),
}

/** All of it: good bodies (`goods` among them), nearly good ones, and good ones written badly. */
export function wiresOf(schema: JsonSchema, hints: Hints = {}, goods: unknown[] = []): Arbitrary<Wire> {
  const made = validOf(schema, hints)
  const valid = goods.length > 0 ? fc.oneof(made, fc.constantFrom(...goods)) : made
  return fc.oneof(
    {
      weight: 4,
      arbitrary: valid.map((value) => ({ how: 'good', bytes: bytesOf(value), contentType: json })),
    },
    {
      weight: 6,
      arbitrary: nearlyValidOf(valid).map(({ how, value }) => ({
        how,
        bytes: bytesOf(value),
        contentType: json,
      })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(valid, fc.constantFrom(...Object.entries(writings)))
        .map(([value, [how, write]]) => ({ how, ...write(bytesOf(value)) })),
    },
  )
}
