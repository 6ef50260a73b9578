/** A stream of typed pieces: one byte of kind, four of length, then the bytes. */
import { createHash } from 'node:crypto'

export type Frame = { kind: string; bytes: Buffer }

/** The stream is not made of frames, or ends inside one. */
export class FrameError extends Error {}

const headBytes = 5
/** Far more than any writer makes; a length beyond it is damage, and must not be believed. */
const maxFrameBytes = 16 * 1024 * 1024

export function frame(kind: string, bytes: Uint8Array): Buffer {
  if (bytes.length > maxFrameBytes) throw new FrameError(`A frame of ${bytes.length} bytes is too large.`)
  return Buffer.concat([headOf(kind, bytes.length), bytes])
}

function headOf(kind: string, length: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.write(kind, 0, 1, 'latin1')
  head.writeUInt32BE(length, 1)
  return head
}

/** Ends a stream of frames with one more, of kind `.`, that holds the SHA-256 of all before it. */
export async function* withDigest(frames: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const bytes of frames) {
    hash.update(bytes)
    yield bytes
  }
  yield frame('.', hash.digest())
}

/** The frames before the digest; throws at the end when they are not what was written. */
export async function* checkDigest(frames: AsyncIterable<Frame>): AsyncGenerator<Frame> {
  const hash = createHash('sha256')
  let isRight = false
  for await (const next of frames) {
    if (isRight) throw new FrameError('Something follows the end.')
    if (next.kind === '.') isRight = hash.digest().equals(next.bytes)
    else {
      hash.update(headOf(next.kind, next.bytes.length)).update(next.bytes)
      yield next
    }
    if (next.kind === '.' && !isRight) throw new FrameError('The stream was changed.')
  }
  if (!isRight) throw new FrameError('The stream ends too early.')
}

export async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let held: Uint8Array[] = []
  let length = 0
  let needed = headBytes
  for await (const piece of source) {
    held.push(piece)
    length += piece.length
    if (length < needed) continue
    let rest = Buffer.concat(held)
    for (;;) {
      needed = headBytes
      if (rest.length < needed) break
      const size = rest.readUInt32BE(1)
      if (size > maxFrameBytes) throw new FrameError('The stream is damaged.')
      needed = headBytes + size
      if (rest.length < needed) break
      yield { kind: rest.toString('latin1', 0, 1), bytes: rest.subarray(headBytes, needed) }
      rest = rest.subarray(needed)
    }
    held = [rest]
    length = rest.length
  }
  if (length > 0) throw new FrameError('The stream ends too early.')
}
