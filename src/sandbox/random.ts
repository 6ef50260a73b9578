/** Seeded chance (sfc32): the same seed and the same label give the same draws on every machine. */
import { createHash } from 'node:crypto'

export type Random = () => number

export function seededRandom(seed: number, label: string): Random {
  const hash = createHash('sha256').update(`${seed}|${label}`).digest()
  let a = hash.readUInt32LE(0)
  let b = hash.readUInt32LE(4)
  let c = hash.readUInt32LE(8)
  let d = hash.readUInt32LE(12)
  return () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    return (t >>> 0) / 4_294_967_296
  }
}

/** Standard normal by Box and Muller; two draws each time, so that later draws do not shift. */
export const drawNormal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
