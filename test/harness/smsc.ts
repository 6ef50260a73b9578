/** A lean SMS provider on loopback that remembers what it got: who bound when, and every message in order. */
import { listenSmpp, type Answer, type SmppSession } from '../../src/lib/smpp/index.ts'

export type Taken = {
  /** The system id that the session was bound with: one per line. */
  systemId: string
  destination: string
  text: string
  /** The id that seeded messages carry as their text. */
  messageId: string
  atMs: number
}

export type AnswerTo = (
  taken: Taken,
  session: SmppSession,
) => Answer | undefined | Promise<Answer | undefined>

export type Smsc = {
  port: number
  taken: Taken[]
  /** Of one line. */
  of(systemId: string): Taken[]
  /** What to say to the next messages; undefined: the usual. */
  answer: AnswerTo | undefined
  /** The status of binds; 0 unless set. */
  bindStatus: number
  binds: { systemId: string; password: string }[]
  /** Sessions bound now, and the most that were ever bound at the same time, by line. */
  bound: Map<string, number>
  mostBound: Map<string, number>
  cut(): void
  close(): Promise<void>
}

export async function startSmsc(port = 0): Promise<Smsc> {
  const taken: Taken[] = []
  const owners = new WeakMap<SmppSession, string>()
  let nextId = 1
  const server = await listenSmpp(
    { host: '127.0.0.1', port },
    {
      async onRequest(pdu, session) {
        if (pdu.command === 'bind_transceiver') {
          const { systemId, password } = pdu
          smsc.binds.push({ systemId, password })
          if (smsc.bindStatus !== 0) return { status: smsc.bindStatus }
          owners.set(session, systemId)
          const now = (smsc.bound.get(systemId) ?? 0) + 1
          smsc.bound.set(systemId, now)
          smsc.mostBound.set(systemId, Math.max(now, smsc.mostBound.get(systemId) ?? 0))
          void session.closed.then(() => smsc.bound.set(systemId, smsc.bound.get(systemId)! - 1))
          return { systemId: 'smsc' }
        }
        if (pdu.command !== 'submit_sm') return { status: 3 }
        const text = Buffer.from(pdu.shortMessage).toString('latin1')
        const systemId = owners.get(session)!
        const atMs = performance.now()
        const one = { systemId, destination: pdu.destination, text, messageId: text.slice(0, 36), atMs }
        taken.push(one)
        if (smsc.answer) return await smsc.answer(one, session)
        return { messageId: `id-${nextId++}` }
      },
    },
  )
  const smsc: Smsc = {
    port: server.port,
    taken,
    of: (systemId) => taken.filter((one) => one.systemId === systemId),
    answer: undefined,
    bindStatus: 0,
    binds: [],
    bound: new Map(),
    mostBound: new Map(),
    cut() {
      for (const session of server.sessions) session.destroy('cut by the test')
    },
    close: () => server.close(),
  }
  return smsc
}
