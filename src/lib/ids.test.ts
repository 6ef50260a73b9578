import { expect, test } from 'vitest'
import { firstIdAt, idTime, newId, newShownId, parseId, showId } from './ids.ts'

test('ids sort in the order they were made, however fast, and never repeat', () => {
  const ids = Array.from({ length: 20_000 }, newId)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  expect(
    ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toBe(true)
})

test('an id tells its time, and bounds of a moment enclose the ids made after it', () => {
  const before = new Date()
  const id = newId()
  expect(idTime(id).getTime()).toBeGreaterThanOrEqual(before.getTime())
  expect(id >= firstIdAt(before)).toBe(true)
})

test('outside an id has a prefix, and only one of that kind is read', () => {
  const id = newId()
  expect(parseId('msg', showId('msg', id))).toBe(id)
  expect(parseId('lin', showId('msg', id))).toBeUndefined()
  expect(parseId('msg', id)).toBeUndefined()
})

test('an id that is only ever shown is one like the others', () => {
  const ids = Array.from({ length: 2_000 }, () => [newId(), parseId('req', newShownId('req'))!]).flat()
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})
