/** Credentials and ports of one data folder: random at first, then the same at every start. Mode 0600. */
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSelfSignedCertificate } from '../lib/self-signed-certificate.ts'
import { newGraphId } from './graph/state.ts'

export type PortName = 'http' | 'smtp' | 'smpp' | 'graph'

export type KeptFacts = {
  smtp: { user: string; password: string }
  smpp: { systemId: string; password: string }
  graph: {
    accessToken: string
    appSecret: string
    verifyToken: string
    wabaId: string
    phoneNumberId: string
  }
  callbackSecret: string
  certificate: { key: string; cert: string }
  /** Last used ports: the next start tries them first, so that addresses people noted keep working. */
  ports: Partial<Record<PortName, number>>
}

const secret = (bytes = 24) => randomBytes(bytes).toString('base64url')

function freshFacts(now: Date): KeptFacts {
  return {
    smtp: { user: 'sandbox', password: secret() },
    // SMPP gives a password eight characters.
    smpp: { systemId: 'sandbox', password: String(randomInt(10 ** 7, 10 ** 8 - 1)) },
    graph: {
      accessToken: `EAA${secret(48)}`,
      appSecret: randomBytes(16).toString('hex'),
      verifyToken: secret(),
      wabaId: newGraphId(),
      phoneNumberId: newGraphId(),
    },
    callbackSecret: `whsec_${randomBytes(32).toString('base64')}`,
    certificate: createSelfSignedCertificate(['localhost', '127.0.0.1', '::1'], now),
    ports: {},
  }
}

export function loadFacts(dataDir: string | undefined, now: Date): { facts: KeptFacts; save(): void } {
  if (dataDir === undefined) return { facts: freshFacts(now), save: () => {} }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'sandbox.json')
  const fresh = freshFacts(now)
  const facts = existsSync(path)
    ? { ...fresh, ...(JSON.parse(readFileSync(path, 'utf8')) as Partial<KeptFacts>) }
    : fresh
  const save = () => writeFileSync(path, `${JSON.stringify(facts, undefined, 2)}\n`, { mode: 0o600 })
  save()
  return { facts, save }
}
