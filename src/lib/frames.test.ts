import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkDigest, frame, FrameError, readFrames, withDigest } from './frames.ts'

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Buffer, size: number) {
  const found: { kind: string; bytes: Buffer }[] = []
  for await (const one of readFrames(pieces(bytes, size)))
    found.push({ kind: one.kind, bytes: Buffer.from(one.bytes) })
  return found
}

test.each([1, 3, 7, 1000, 1_000_000])('frames come back from pieces of %i bytes', async (size) => {
  const bodies = [Buffer.alloc(0), Buffer.from('x'), randomBytes(3000)]
  const stream = Buffer.concat(bodies.map((body, at) => frame('ABC'[at]!, body)))
  expect(await read(stream, size)).toEqual(bodies.map((bytes, at) => ({ kind: 'ABC'[at], bytes })))
})

test('a stream that ends inside a frame, or claims an absurd length, is refused', async () => {
  const stream = frame('A', Buffer.from('hello'))
  await expect(read(stream.subarray(0, -1), 4)).rejects.toThrow(FrameError)
  await expect(read(Buffer.from([65, 255, 255, 255, 255]), 5)).rejects.toThrow(FrameError)
})

test('with a digest a stream that was changed, cut off between frames or added to is refused', async () => {
  async function* given() {
    for (const text of ['one', 'two', 'three']) yield frame('A', Buffer.from(text))
  }
  const parts: Buffer[] = []
  for await (const part of withDigest(given())) parts.push(part)
  const check = async (bytes: Buffer) => {
    const texts: string[] = []
    for await (const next of checkDigest(readFrames(pieces(bytes, 4)))) texts.push(next.bytes.toString())
    return texts
  }
  expect(await check(Buffer.concat(parts))).toEqual(['one', 'two', 'three'])
  await expect(check(Buffer.concat(parts.slice(0, 3)))).rejects.toThrow('ends too early')
  await expect(check(Buffer.concat([parts[1]!, parts[0]!, ...parts.slice(2)]))).rejects.toThrow('was changed')
  await expect(check(Buffer.concat([...parts, parts[0]!]))).rejects.toThrow('follows the end')
})
