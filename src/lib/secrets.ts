/** Sealing (AES-256-GCM), hashing of random tokens (SHA-256) and of passwords (Argon2id). */
import {
  argon2,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'

export type Sealer = {
  seal(plain: string): Buffer
  open(sealed: Buffer): string
  /** HMAC-SHA256 with a key of its own per purpose: proves that we wrote something, without hiding it. */
  mac(purpose: string, data: Buffer): Buffer
  /** Stored in the database: a node with another key finds out before it serves. */
  checkValue: string
}

const version = 1

export function createSealer(keyHex: string): Sealer {
  const key = Buffer.from(keyHex, 'hex')
  if (key.length !== 32)
    throw new Error('The sealing key must be 32 bytes, written as 64 hexadecimal digits.')
  return {
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      if (sealed[0] !== version || sealed.length < 29) throw new Error('Not a sealed value of this version.')
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13))
      decipher.setAuthTag(sealed.subarray(13, 29))
      return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]).toString('utf8')
    },
    mac: (purpose, data) =>
      createHmac('sha256', Buffer.from(hkdfSync('sha256', key, '', `pombo mac ${purpose}`, 32)))
        .update(data)
        .digest(),
    checkValue: Buffer.from(hkdfSync('sha256', key, '', 'pombo sealing key check', 16)).toString('hex'),
  }
}

export const newSealingKey = (): string => randomBytes(32).toString('hex')

/** 256 bits, safe in headers, JSON and shells. */
export const newToken = (prefix = ''): string => prefix + randomBytes(32).toString('base64url')

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

export const equalBytes = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

const argon = promisify(argon2)
const cost = { parallelism: 1, tagLength: 32, memory: 19 * 1024, passes: 2 } as const

// 19 MiB each: at most two at a time per process, so that 200 simultaneous logins stay within bounds.
let running = 0
const waiting: (() => void)[] = []

async function argonHash(password: string, nonce: Buffer): Promise<Buffer> {
  if (running >= 2) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    return await argon('argon2id', { ...cost, message: password, nonce })
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

/** How many hashes run or wait: a door that takes passwords refuses work past a bound. */
export const passwordQueueLength = (): number => running + waiting.length

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const hash = await argonHash(password, nonce)
  return `argon2id$${nonce.toString('base64')}$${hash.toString('base64')}`
}

const unknownUserHash = `argon2id$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(32).toString('base64')}`

/** The same work whether or not there is a user: `stored` undefined always ends in false. */
export async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, nonce = '', hash = ''] = (stored ?? unknownUserHash).split('$')
  const computed = await argonHash(password, Buffer.from(nonce, 'base64'))
  return equalBytes(computed, Buffer.from(hash, 'base64')) && stored !== undefined
}
