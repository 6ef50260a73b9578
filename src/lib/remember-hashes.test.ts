import { expect, test } from 'vitest'
import { rememberHashes } from './remember-hashes.ts'
import { hashToken } from './secrets.ts'

test('gives the same hash as asking each time, also past its limit', () => {
  const hashOf = rememberHashes(2)
  const texts = ['a', 'b', 'a', 'c', 'd', 'a', 'x'.repeat(300), '']
  for (const text of [...texts, ...texts]) expect(hashOf(text)).toEqual(hashToken(text))
})

test('remembers the latest only', () => {
  const hashOf = rememberHashes(1)
  const first = hashOf('a')
  expect(hashOf('a')).toBe(first)
  hashOf('b')
  expect(hashOf('a')).not.toBe(first)
})
