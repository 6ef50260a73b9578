/** deliver_sm to the account's receivers: kept while nobody is bound, a window per session, repeated when refused. */
import { setTimeout as delay } from 'node:timers/promises'
import type { PduInput, SmppSession } from '../../lib/smpp/index.ts'
import type { SandboxLog } from '../types.ts'

export type DeliverSm = Omit<PduInput<'deliver_sm'>, 'command' | 'sequence' | 'status'>

export type Outbound = {
  send(systemId: string, pdu: DeliverSm): void
  bound(systemId: string, session: SmppSession): void
  sessions(systemId: string): SmppSession[]
  stop(): void
}

const maxWaiting = 20_000
const window = 100
const maxTries = 5

export function createOutbound(options: { retryMs?: number; log: SandboxLog }): Outbound {
  const { retryMs = 500, log } = options
  const accounts = new Map<
    string,
    { sessions: Set<SmppSession>; waiting: { pdu: DeliverSm; tries: number }[] }
  >()
  const stopped = new AbortController()

  const accountOf = (systemId: string) => {
    const known = accounts.get(systemId)
    if (known) return known
    const fresh = { sessions: new Set<SmppSession>(), waiting: [] }
    accounts.set(systemId, fresh)
    return fresh
  }

  async function deliver(
    systemId: string,
    session: SmppSession,
    item: { pdu: DeliverSm; tries: number },
  ): Promise<void> {
    const outcome = await session.request({ command: 'deliver_sm', ...item.pdu })
    if (outcome.kind === 'answered' && outcome.isOk) return
    if (item.tries + 1 >= maxTries) {
      log.warn(
        { systemId, tries: item.tries + 1 },
        'A deliver_sm of the sandbox was given up after its last try.',
      )
      return
    }
    await delay(retryMs * (item.tries + 1), undefined, { signal: stopped.signal }).catch(() => {})
    if (!stopped.signal.aborted) accountOf(systemId).waiting.push({ pdu: item.pdu, tries: item.tries + 1 })
  }

  function pump(systemId: string): void {
    const { sessions, waiting } = accountOf(systemId)
    while (waiting.length > 0) {
      let best: SmppSession | undefined
      for (const session of sessions) {
        if (!session.isOpen || session.pendingCount >= window) continue
        if (!best || session.pendingCount < best.pendingCount) best = session
      }
      if (!best) return
      deliver(systemId, best, waiting.shift()!)
        .catch((fault: unknown) =>
          log.error({ systemId, cause: String(fault) }, 'A deliver_sm of the sandbox failed.'),
        )
        .finally(() => pump(systemId))
    }
  }

  return {
    send(systemId, pdu) {
      const { waiting } = accountOf(systemId)
      waiting.push({ pdu, tries: 0 })
      if (waiting.length > maxWaiting) waiting.shift()
      pump(systemId)
    },
    bound(systemId, session) {
      const { sessions } = accountOf(systemId)
      sessions.add(session)
      void session.closed.then(() => sessions.delete(session))
      // After the bind's answer is written: receivers are not ready for messages before it.
      setImmediate(pump, systemId)
    },
    sessions: (systemId) => [...accountOf(systemId).sessions],
    stop: () => stopped.abort(),
  }
}
