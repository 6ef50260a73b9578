import { expect, test } from 'vitest'
import { formatBytes, formatDuration, formatRelative, fromLocalInput, toLocalInput } from './format.ts'

test.each([
  [0, 'now'],
  [-5_000, '5 seconds ago'],
  [-90_000, '1 minute ago'],
  [7_200_000, 'in 2 hours'],
  [-86_400_000, 'yesterday'],
  [-40 * 86_400_000, 'last month'],
  [-800 * 86_400_000, '2 years ago'],
])('%i ms from now is %s', (ms, words) => {
  const now = Date.parse('2026-11-15T12:00:00Z')
  expect(formatRelative(new Date(now + ms), now)).toBe(words)
})

test.each([
  [12, '12 ms'],
  [4_200, '4.2 s'],
  [59_990, '1 min 0 s'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
])('%i ms lasts %s', (ms, words) => expect(formatDuration(ms)).toBe(words))

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [26 * 1024 * 1024, '26 MiB'],
  [5000 * 1024 * 1024, '4.9 GiB'],
])('%i bytes are %s', (bytes, words) => expect(formatBytes(bytes)).toBe(words))

test('an instant survives the input that knows no zone', () => {
  expect(fromLocalInput(toLocalInput('2026-03-29T10:15:00.000Z'))).toBe('2026-03-29T10:15:00.000Z')
  expect(fromLocalInput('')).toBe('')
  expect(toLocalInput('nonsense')).toBe('')
})
