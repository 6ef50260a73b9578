/** Small pictures made in code, so that the demo's media library needs no files in the repository. */
import { crc32, deflateSync } from 'node:zlib'

const width = 320
const height = 200
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

type Colour = readonly [red: number, green: number, blue: number]

/** A flower of five petals on a meadow, as PNG with 8 bits of red, green and blue. */
export function drawFlower(petals: Colour): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows.set(colourAt(x - width / 2, y - height / 2, petals), y * (1 + width * 3) + 1 + x * 3)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function colourAt(x: number, y: number, petals: Colour): Colour {
  const distance = Math.hypot(x, y)
  const reach = 35 + 40 * Math.abs(Math.cos(2.5 * Math.atan2(y, x)))
  if (distance < 18) return [250, 205, 60]
  if (distance < reach) return petals
  return [120, 180 - Math.round(y / 4), 110]
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
