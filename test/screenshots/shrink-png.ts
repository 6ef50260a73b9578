/**
 * A browser's picture with at most 256 colours: less than half of the bytes, and letters look the same. The commonest
 * colours stay exactly, which are those of all surfaces, and those that nothing resembles; the shades at the edges of
 * letters take the nearest one.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const maxColours = 256
/** Kept for being common; the others are kept for being missed most. */
const commonColours = 96

export function shrinkPng(png: Buffer): Buffer {
  const { width, height, depth, pixels } = decode(png)
  const colourAt = (at: number) => (pixels[at]! << 16) | (pixels[at + 1]! << 8) | pixels[at + 2]!
  const counts = new Map<number, number>()
  for (let at = 0; at < pixels.length; at += depth)
    counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1)
  const palette = choosePalette(counts)
  const places = new Map([...counts.keys()].map((colour) => [colour, nearest(colour, palette)]))
  // Each row begins with its filter; none suits flat surfaces best.
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = places.get(colourAt((y * width + x) * depth))!
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3], 8)
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function choosePalette(counts: ReadonlyMap<number, number>): number[] {
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a)
  const palette = byCount.slice(0, commonColours).map(([colour]) => colour)
  const missed = byCount.slice(commonColours).map(([colour, count]) => ({
    colour,
    count,
    distance: distanceOf(colour, palette[nearest(colour, palette)]!),
  }))
  while (palette.length < Math.min(maxColours, byCount.length)) {
    const worst = missed.reduce((a, b) => (b.distance * b.count > a.distance * a.count ? b : a))
    palette.push(worst.colour)
    for (const one of missed) one.distance = Math.min(one.distance, distanceOf(one.colour, worst.colour))
  }
  return palette
}

const distanceOf = (one: number, other: number): number =>
  ((one >> 16) - (other >> 16)) ** 2 +
  (((one >> 8) & 255) - ((other >> 8) & 255)) ** 2 +
  ((one & 255) - (other & 255)) ** 2

function nearest(colour: number, palette: readonly number[]): number {
  let best = 0
  let least = Infinity
  for (const [place, other] of palette.entries()) {
    const distance = distanceOf(colour, other)
    if (distance < least) [best, least] = [place, distance]
  }
  return best
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

/** Only what browsers write: 8 bits a channel, with or without alpha, not interlaced. */
function decode(png: Buffer): { width: number; height: number; depth: number; pixels: Buffer } {
  const parts: Buffer[] = []
  for (let at = signature.length; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const depth = { 2: 3, 6: 4 }[png[25]!]
  if (png[24] !== 8 || depth === undefined || png[28] !== 0) throw new Error('not a PNG as browsers write it')
  const filtered = inflateSync(Buffer.concat(parts))
  const length = width * depth
  const pixels = Buffer.alloc(length * height)
  for (let y = 0; y < height; y++) {
    const filter = filtered[y * (length + 1)]!
    for (let x = 0; x < length; x++) {
      const at = y * length + x
      const left = x >= depth ? pixels[at - depth]! : 0
      const above = y > 0 ? pixels[at - length]! : 0
      const corner = x >= depth && y > 0 ? pixels[at - length - depth]! : 0
      pixels[at] = filtered[y * (length + 1) + 1 + x]! + guess(filter, left, above, corner)
    }
  }
  return { width, height, depth, pixels }
}

function guess(filter: number, left: number, above: number, corner: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  const sum = left + above - corner
  const [toLeft, toAbove, toCorner] = [Math.abs(sum - left), Math.abs(sum - above), Math.abs(sum - corner)]
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}
