/** The parts of the sandbox that its HTTP API reaches. */
import type { Clock } from '../lib/clock.ts'
import type { Catcher } from './catcher.ts'
import type { Chaos } from './chaos.ts'
import type { GraphSandbox } from './graph/server.ts'
import type { Inbox } from './inbox.ts'
import type { PersonActs } from './person.ts'
import type { SmscSandbox } from './smsc/server.ts'
import type { SmtpSandbox } from './smtp.ts'
import type { SandboxLog } from './types.ts'

export type ApiContext = {
  inbox: Inbox
  chaos: Chaos
  smtp: SmtpSandbox
  smsc: SmscSandbox
  graph: GraphSandbox
  catcher: Catcher
  person: PersonActs
  clock: Clock
  log: SandboxLog
}
