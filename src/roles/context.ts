/** What every role of a process is built from, and what a started part of it looks like. */
import type { Registry } from 'prom-client'
import type { Config } from '../config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
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
