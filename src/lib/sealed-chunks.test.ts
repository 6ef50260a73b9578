import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { newPassphraseFacts, openChunks, passphraseKey, sealChunks, UnsealError } from './sealed-chunks.ts'

const key = randomBytes(32)
const bound = Buffer.from('header')

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function all(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}

const seal = (bytes: Buffer, size: number) => all(sealChunks(pieces(bytes, size), key, bound))
const open = (bytes: Buffer, size: number, header = bound) =>
  all(openChunks(pieces(bytes, size), key, header))

test.each([0, 1, 65_535, 65_536, 65_537, 131_072, 400_000])(
  '%i bytes come back in any pieces',
  async (length) => {
    const plain = randomBytes(length)
    const sealed = await seal(plain, 10_007)
    // A few bytes may be met by chance.
    expect(length >= 32 && sealed.includes(plain.subarray(0, 32))).toBe(false)
    expect((await open(sealed, 70_001)).equals(plain)).toBe(true)
  },
)

test('cut off, changed, reordered or under another header: refused', async () => {
  const sealed = await seal(randomBytes(200_000), 64 * 1024)
  const chunk = 65_536 + 16
  await expect(open(sealed.subarray(0, chunk), 8192)).rejects.toThrow(UnsealError)
  await expect(open(sealed.subarray(0, 2 * chunk + 5), 8192)).rejects.toThrow(UnsealError)
  const changed = Buffer.from(sealed)
  changed[chunk + 9]! ^= 1
  await expect(open(changed, 8192)).rejects.toThrow('changed or cut off')
  const swapped = Buffer.concat([
    sealed.subarray(chunk, 2 * chunk),
    sealed.subarray(0, chunk),
    sealed.subarray(2 * chunk),
  ])
  await expect(open(swapped, 8192)).rejects.toThrow(UnsealError)
  await expect(open(sealed, 8192, Buffer.from('another'))).rejects.toThrow(UnsealError)
})

test('a key from a passphrase is the same for the same salt, and bounded in what it costs', async () => {
  const facts = { ...newPassphraseFacts(), cost: 2 ** 14 }
  const once = await passphraseKey('correct horse', facts)
  expect(once.equals(await passphraseKey('correct horse', facts))).toBe(true)
  expect(once.equals(await passphraseKey('correct house', facts))).toBe(false)
  await expect(passphraseKey('x', { ...facts, cost: 2 ** 30 })).rejects.toThrow(UnsealError)
  await expect(passphraseKey('x', { ...facts, cost: 3 })).rejects.toThrow(UnsealError)
})
