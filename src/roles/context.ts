/** What every role of a process is built from, and what a started part of it looks like. */
import type { Registry } from 'prom-client'
import { ConfigError, type Config } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { readExceptions, type Exceptions } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { Db } from '../store/db.ts'

export type RoleContext = {
  config: Config
  db: Db
  sealer: Sealer
  clock: Clock
  log: Log
  registry: Registry
}

export type Part = { stop(): Promise<void> }

/** What the operator allows, and the exact peers of the demo's sandbox. */
export function outboundExceptions(config: Config, sandboxPeers: readonly string[] = []): Exceptions {
  const reading = readExceptions([...config.outboundExceptions, ...sandboxPeers])
  if (!reading.ok) throw new ConfigError(`POMBO_OUTBOUND_EXCEPTIONS ${reading.reason}.`)
  return reading.exceptions
}
