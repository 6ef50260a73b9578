import { expect, test } from 'vitest'
import {
  matchTotp,
  newRecoveryCodes,
  newTotpSecret,
  recoveryKey,
  toBase32,
  totpCode,
  totpStep,
} from './totp.ts'

const rfcSecret = toBase32(Buffer.from('12345678901234567890'))

test('the codes are those of RFC 6238, appendix B', () => {
  const vectors: [number, string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ]
  for (const [seconds, code] of vectors)
    expect(totpCode(rfcSecret, totpStep(new Date(seconds * 1000)), 8)).toBe(code)
})

test('a code is taken one step to either side of now, and no further', () => {
  const secret = newTotpSecret()
  const now = new Date('2026-11-15T12:00:10Z')
  const step = totpStep(now)
  for (const offset of [-1, 0, 1])
    expect(matchTotp(secret, totpCode(secret, step + offset), now)).toBe(step + offset)
  // A code of another step may be equal by chance: one in 333,333.
  const far = totpCode(secret, step + 3)
  const near = [-1, 0, 1].map((offset) => totpCode(secret, step + offset))
  if (!near.includes(far)) expect(matchTotp(secret, far, now)).toBeUndefined()
  expect(matchTotp(secret, 'abcdef', now)).toBeUndefined()
  expect(matchTotp(secret, '', now)).toBeUndefined()
})

test('recovery codes differ, and compare without regard to case and dashes', () => {
  const codes = newRecoveryCodes()
  expect(new Set(codes).size).toBe(10)
  expect(recoveryKey(codes[0]!.toUpperCase().replace('-', ' '))).toBe(recoveryKey(codes[0]!))
})
