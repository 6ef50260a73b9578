import fc from 'fast-check'
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { compileReader, isLongerThan } from './read-json.ts'

const schema = Type.Object({
  channel: Type.Integer({ enum: [1, 2, 3], 'x-says': 'must be 1, 2 or 3' }),
  text: Type.Optional(Type.String({ maxLength: 5 })),
  phoneNumber: Type.Optional(Type.Integer({ minimum: 1, 'x-zero-is-not-given': true })),
  flag: Type.Optional(Type.Boolean()),
  settings: Type.Optional(
    Type.Object({ InAttendance: Type.Optional(Type.Boolean()), hours: Type.Integer() }),
  ),
  jokers: Type.Optional(
    Type.Array(Type.String({ maxLength: 3 }), {
      maxItems: 5,
      'x-null-items': true,
      'x-last-item-max-length': 6,
    }),
  ),
  parameters: Type.Optional(
    Type.Array(
      Type.Object({
        parameterName: Type.String(),
        parameterValue: Type.Optional(Type.String({ 'x-empty-is-value': true })),
      }),
      { 'x-drop-empty-items': true, maxItems: 3 },
    ),
  ),
  fields: Type.Optional(Type.Record(Type.String(), Type.String({ 'x-empty-is-value': true }))),
})
const read = compileReader(schema)

const value = (raw: unknown) => {
  const reading = read(raw)
  if (!reading.ok) throw new Error(JSON.stringify(reading.errors))
  return reading.value
}
const errors = (raw: unknown) => {
  const reading = read(raw)
  if (reading.ok) throw new Error('expected errors')
  return { ...reading.errors }
}

test('names match in any case and unknown ones are ignored', () => {
  const got = value({
    CHANNEL: 3,
    tExT: 'a',
    SETTINGS: { inattendance: true, HOURS: 2 },
    other: { deep: [] },
  })
  expect(got.channel).toBe(3)
  expect(got.text).toBe('a')
  expect(got.settings).toEqual({ InAttendance: true, hours: 2 })
  expect(got).not.toHaveProperty('other')
})

test('one name in two spellings is an error under the documented one', () => {
  expect(errors({ channel: 1, settings: { hours: 1, inAttendance: true, InAttendance: true } })).toEqual({
    'settings.InAttendance': ['is given twice, in two spellings'],
  })
})

test('nothing is coerced', () => {
  expect(
    errors({ channel: '3', text: 3, phoneNumber: 1.5, flag: 'false', settings: [], jokers: {}, fields: 1 }),
  ).toEqual({
    channel: ['must be an integer'],
    text: ['must be a string'],
    phoneNumber: ['must be an integer'],
    flag: ['must be true or false'],
    settings: ['must be an object'],
    jokers: ['must be an array'],
    fields: ['must be an object'],
  })
  expect(errors(JSON.parse('{"channel":1,"phoneNumber":9007199254740993}'))).toEqual({
    phoneNumber: ['must be an integer'],
  })
})

test('null, the empty string and a zero number mean not given', () => {
  const got = value({ channel: 1, text: '', phoneNumber: 0, flag: null, settings: null, jokers: null })
  expect(got).toEqual({ channel: 1 })
  expect(errors({ channel: null })).toEqual({ channel: ['is required'] })
  expect(errors({ settings: {} })).toEqual({ channel: ['is required'], 'settings.hours': ['is required'] })
})

test('items of which nothing is given are dropped, and the others keep their places', () => {
  const reading = read({
    channel: 1,
    parameters: [
      null,
      { parameterName: 'a', parameterValue: '' },
      { PARAMETERNAME: '', parameterValue: '' },
      { parameterName: 'b' },
      {},
    ],
  })
  expect(reading).toMatchObject({
    ok: true,
    value: { parameters: [{ parameterName: 'a', parameterValue: '' }, { parameterName: 'b' }] },
    places: { parameters: [1, 3] },
  })
  expect(errors({ channel: 1, parameters: [{}, { parameterValue: 'x' }] })).toEqual({
    'parameters[1].parameterName': ['is required'],
  })
})

test('jokers: null stays in its place, each has its own length, a sixth is refused', () => {
  expect(value({ channel: 1, jokers: [null, 'abc', '', 'x', '123456'] }).jokers).toEqual([
    null,
    'abc',
    null,
    'x',
    '123456',
  ])
  expect(errors({ channel: 1, jokers: ['abcd', '', '', '', '1234567', ''] })).toEqual({
    'jokers[0]': ['must have at most 3 characters'],
    'jokers[4]': ['must have at most 6 characters'],
    jokers: ['must have at most 5 items'],
  })
})

test('lengths count code points', () => {
  expect(value({ channel: 1, text: '😀😀😀😀😀' }).text).toHaveLength(10)
  expect(errors({ channel: 1, text: '😀😀😀😀😀a' })).toEqual({ text: ['must have at most 5 characters'] })
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.nat(12), (text, max) => {
      expect(isLongerThan(text, max)).toBe(Array.from(text).length > max)
    }),
  )
})

test('NUL and halves of surrogate pairs are refused, also in names', () => {
  expect(errors({ channel: 1, text: 'a\0' })).toEqual({ text: ['must not contain a NUL character'] })
  expect(errors({ channel: 1, text: '\ud800' })).toEqual({
    text: ['must not contain half of a surrogate pair'],
  })
  expect(errors({ channel: 1, fields: { 'a\0': 'x' } })).toEqual({
    fields: ['has a name that must not contain a NUL character'],
  })
})

test('a name like __proto__ is data, never a prototype', () => {
  const got = value(JSON.parse('{"channel":1,"__proto__":{"text":"x"},"fields":{"__proto__":"y"}}'))
  expect(got.text).toBeUndefined()
  expect(Object.keys(got.fields!)).toEqual(['__proto__'])
  expect(errors(JSON.parse('{"channel":1,"fields":{"__proto__":1}}'))).toEqual({
    'fields.__proto__': ['must be a string'],
  })
})

test('what is no object is refused, and so are unknown fields that nest beyond all reason', () => {
  for (const raw of [null, [], 'x', 1, true]) expect(errors(raw)).toEqual({ '': ['must be an object'] })
  const nested = (levels: number) =>
    JSON.parse(`{"channel":1,"other":${'['.repeat(levels)}${']'.repeat(levels)}}`) as unknown
  expect(value(nested(64)).channel).toBe(1)
  for (const levels of [65, 100_000])
    expect(errors(nested(levels))).toEqual({ other: ['is nested too deeply'] })
})

test('never throws and never lets through what the schema does not allow', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (raw) => {
      const reading = read(raw)
      if (reading.ok) expect([1, 2, 3]).toContain(reading.value.channel)
    }),
  )
})
