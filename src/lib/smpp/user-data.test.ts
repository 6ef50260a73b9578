import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { concatenationHeader, readUserData, udhiBit } from './user-data.ts'

test('a header is read back', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(octet, octet, octet, fc.uint8Array(), (reference, total, part, content) => {
      const concatenation = { reference, total, part }
      const octets = Uint8Array.of(...concatenationHeader(concatenation), ...content)
      expect(readUserData(octets, udhiBit)).toEqual({ concatenation, content })
    }),
  )
})

test('the long reference, and other elements before it', () => {
  expect(readUserData(Uint8Array.of(9, 0x24, 1, 3, 0x08, 4, 0x12, 0x34, 3, 2, 65), udhiBit)).toEqual({
    concatenation: { reference: 0x1234, total: 3, part: 2 },
    content: Uint8Array.of(65),
  })
})

test('a header that does not add up, or is not announced, stays in the content', () => {
  const octets = Uint8Array.of(5, 0, 3, 1, 2, 1, 65)
  expect(readUserData(octets, 0)).toEqual({ content: octets })
  for (const broken of [[], [5], [9, 0, 3], [3, 0, 9, 1]]) {
    expect(readUserData(Uint8Array.of(...broken), udhiBit)).toEqual({ content: Uint8Array.of(...broken) })
  }
  fc.assert(
    fc.property(
      fc.uint8Array(),
      (garbage) => readUserData(garbage, udhiBit).content.length <= garbage.length,
    ),
  )
})
