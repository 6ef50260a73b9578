import { expect, test } from 'vitest'
import { cleanReport } from './clean-report.ts'

const receivedAt = new Date('2026-11-15T12:00:00Z')
const seconds = 1_763_208_000

test.each([
  [new Date(seconds * 1_000), new Date(seconds * 1_000)],
  [new Date(seconds * 1_000_000), receivedAt],
  [new Date(-1), receivedAt],
  [new Date(Number.NaN), receivedAt],
])('a provider that says %s means %s', (at, meant) => {
  const message = { providerId: 'a', text: '', kind: 'text' as const, media: [], at }
  expect(cleanReport({ kind: 'inbound', message }, receivedAt)).toMatchObject({ message: { at: meant } })
})
