/**
 * A stream of any length under a passphrase: AES-256-GCM in chunks, so that what is read has been verified before
 * anything is done with it, in bounded memory. The nonce counts the chunks and marks the last one: chunks that are
 * dropped, swapped or cut off at the end are noticed. The key is used for one stream only, because its salt is random.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'

type Bytes = AsyncIterable<Uint8Array>

export type PassphraseFacts = { salt: string; cost: number }

/** The passphrase is another one, or the stream was changed or cut off. */
export class UnsealError extends Error {}

const chunkBytes = 64 * 1024
const tagBytes = 16
const saltBytes = 16
/** 128 MiB and about a third of a second for each guess. */
const usualCost = 2 ** 17
/** A file that asks for more than this is not one of ours: 1 GiB. */
const maxCost = 2 ** 20
const blockSize = 8

export const newPassphraseFacts = (): PassphraseFacts => ({
  salt: randomBytes(saltBytes).toString('hex'),
  cost: usualCost,
})

export async function passphraseKey(passphrase: string, { salt, cost }: PassphraseFacts): Promise<Buffer> {
  const isCost = Number.isInteger(cost) && cost >= 2 ** 14 && cost <= maxCost && (cost & (cost - 1)) === 0
  if (!isCost || !/^[0-9a-f]{32}$/.test(salt))
    throw new UnsealError('The facts about the passphrase are wrong.')
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)
  // The same characters typed on two machines may arrive in two encodings.
  const options = { N: cost, r: blockSize, p: 1, maxmem: 256 * cost * blockSize }
  return derive(passphrase.normalize('NFC'), Buffer.from(salt, 'hex'), 32, options)
}

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(Math.floor(index / 2 ** 32), 3)
  nonce.writeUInt32BE(index % 2 ** 32, 7)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** `bound` is verified along with every chunk: what stands in the clear before the stream. */
export async function* sealChunks(source: Bytes, key: Buffer, bound: Buffer): AsyncGenerator<Buffer> {
  let index = 0
  for await (const { bytes, isLast } of inChunks(source, chunkBytes)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index++, isLast))
    cipher.setAAD(bound)
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }
}

export async function* openChunks(source: Bytes, key: Buffer, bound: Buffer): AsyncGenerator<Buffer> {
  let index = 0
  for await (const { bytes, isLast } of inChunks(source, chunkBytes + tagBytes)) {
    if (bytes.length < tagBytes) throw new UnsealError('The stream is cut off.')
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast))
    decipher.setAAD(bound)
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    let plain: Buffer
    try {
      plain = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()])
    } catch (error) {
      const text = index === 0 ? 'The passphrase is another one.' : 'The stream was changed or cut off.'
      throw new UnsealError(text, { cause: error })
    }
    index++
    yield plain
  }
}

/** Pieces of exactly `size` bytes; the last one, which is always there, may be shorter or empty. */
async function* inChunks(source: Bytes, size: number): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let held: Uint8Array[] = []
  let length = 0
  for await (const piece of source) {
    held.push(piece)
    length += piece.length
    if (length <= size) continue
    let rest = Buffer.concat(held)
    // A full chunk is held back until it is known whether another follows.
    for (; rest.length > size; rest = rest.subarray(size))
      yield { bytes: rest.subarray(0, size), isLast: false }
    held = [rest]
    length = rest.length
  }
  yield { bytes: Buffer.concat(held), isLast: true }
}
