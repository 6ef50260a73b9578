/** The `smpp` package's client for tests: a foreign program's idea of the protocol, not ours. */
import { createRequire } from 'node:module'
import type { Loose } from './testing.ts'
import type { Sandbox } from './sandbox.ts'

// The package has no types and is CommonJS.
const smpp: Loose = createRequire(import.meta.url)('smpp')

export type ForeignClient = {
  send(command: string, fields: object): Promise<Loose>
  delivered: Loose[]
  isClosed(): boolean
  close(): void
}

export async function connectForeign(sandbox: Sandbox): Promise<ForeignClient> {
  const session = smpp.connect({ url: `smpp://${sandbox.smpp.host}:${sandbox.smpp.port}` })
  const delivered: Loose[] = []
  let isClosed = false
  session.on('close', () => (isClosed = true))
  session.on('deliver_sm', (pdu: Loose) => {
    delivered.push(pdu)
    session.send(pdu.response())
  })
  session.on('enquire_link', (pdu: Loose) => session.send(pdu.response()))
  await new Promise((resolve, reject) => {
    session.once('connect', resolve)
    session.once('error', reject)
  })
  session.on('error', () => {})
  return {
    delivered,
    isClosed: () => isClosed,
    send: (command, fields) =>
      new Promise((resolve, reject) => {
        session.once('close', () => reject(new Error('closed')))
        session[command](fields, resolve)
      }),
    close: () => session.destroy(),
  }
}

export const bindForeign = (
  client: ForeignClient,
  sandbox: Sandbox,
  command = 'bind_transceiver',
): Promise<Loose> =>
  client.send(command, {
    system_id: sandbox.smpp.systemId,
    password: sandbox.smpp.password,
    interface_version: 0x34,
  })
