/** A stream of typed pieces: one byte of kind, four of length, then the bytes. */

export type Frame = { kind: string; bytes: Buffer }

/** The stream is not made of frames, or ends inside one. */
export class FrameError extends Error {}

const headBytes = 5
/** Far more than any writer makes; a length beyond it is damage, and must not be believed. */
const maxFrameBytes = 16 * 1024 * 1024

export function frame(kind: string, bytes: Uint8Array): Buffer {
  if (bytes.length > maxFrameBytes) throw new FrameError(`A frame of ${bytes.length} bytes is too large.`)
  const head = Buffer.alloc(headBytes)
  head.write(kind, 0, 1, 'latin1')
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
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
