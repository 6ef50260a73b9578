/** What the admin API is built from. */
import type { AcceptMessage } from '../../flows/submission.ts'
import type { ProviderTemplates } from '../../flows/submit-template.ts'
import type { SignIn } from '../../flows/sign-in.ts'
import type { ImportRunner } from '../../flows/run-imports.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Exceptions } from '../../lib/outbound/index.ts'
import type { Sealer } from '../../lib/secrets.ts'
import type { Db } from '../../store/db.ts'
import type { AddressReader } from '../client-address.ts'
import type { BodyBudget } from '../tracking.ts'
import type { LiveFeed } from './live.ts'

export type AdminDeps = {
  db: Db
  sealer: Sealer
  clock: Clock
  log: Log
  signIn: SignIn
  accept: AcceptMessage
  providerTemplates: ProviderTemplates
  imports: ImportRunner
  live: LiveFeed
  exceptions: Exceptions
  addressOf: AddressReader
  budget: BodyBudget
  /** Where media items are reached, without a trailing slash. */
  publicUrl: string
  /** Where the two APIs answer; `isHere` is whether the console's own address does. */
  apis: Record<'unified' | 'direct', { url: string; isHere: boolean }>
  /** The address of the sandbox that serves this company and runs on this machine. */
  findSandbox(companyId: string): Promise<string | undefined>
  /** Where the console is reached: changes that a browser sends must come from there. */
  consoleUrl: string
  config: { maxBodyBytes: number; maxSendBodyBytes: number; trustedProxies: readonly string[] }
}
