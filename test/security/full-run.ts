/** A whole Pombo with its worker, and providers that speak their real protocols: what is sent is really delivered. */
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { startWhole, type Whole, type WholeOptions } from '../harness/whole.ts'

export type Broker = {
  url: string
  calls: { headers: IncomingMessage['headers']; url: string; body: string }[]
  close(): void
}

/** A broker that refuses everything and, as some do, repeats all that it was told. */
async function startTalkativeBroker(): Promise<Broker> {
  const calls: Broker['calls'] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call = {
        headers: request.headers,
        url: request.url ?? '',
        body: Buffer.concat(chunks).toString('utf8'),
      }
      calls.push(call)
      response.writeHead(400, {
        'content-type': 'application/json',
        'x-echo': String(request.headers.authorization),
      })
      response.end(JSON.stringify({ error: 'invalid message', youSent: call }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, calls, close: () => void server.close() }
}

export type FullRun = { whole: Whole; sandbox: Sandbox; broker: Broker; stop(): Promise<void> }

export const phoneNumberId = '100001'

export async function startFullRun(options: Omit<WholeOptions, 'hasWorker'> = {}): Promise<FullRun> {
  const sandbox = await startSandbox({
    clock: systemClock,
    log: silentLog,
    graph: { phoneNumbers: [{ id: phoneNumberId, number: '+5531987650002' }] },
  })
  const broker = await startTalkativeBroker()
  const hostOf = (url: string) => new URL(url).host
  const whole = await startWhole({
    ...options,
    hasWorker: true,
    config: {
      ...options.config,
      outboundExceptions: [
        `brokers=${sandbox.smtp.host}:${sandbox.smtp.port}`,
        `brokers=${sandbox.smpp.host}:${sandbox.smpp.port}`,
        `brokers=${hostOf(sandbox.graph.baseUrl)}`,
        `brokers=${hostOf(broker.url)}`,
        `callbacks=${hostOf(sandbox.catcher.url)}`,
      ],
    },
  })
  return {
    whole,
    sandbox,
    broker,
    async stop() {
      await whole.stop()
      await sandbox.stop()
      broker.close()
    },
  }
}

/** Settings of lines that lead to the sandbox, by driver. */
export const sandboxSettings = ({ smtp, smpp, graph }: Sandbox) => ({
  smtp: {
    host: smtp.host,
    port: smtp.port,
    security: 'starttls',
    canBeUnverified: true,
    username: smtp.user,
    password: smtp.password,
    hasMailboxes: true,
  },
  smpp: { host: smpp.host, port: smpp.port, systemId: smpp.systemId, password: smpp.password },
  'whatsapp-cloud': {
    baseUrl: graph.baseUrl,
    phoneNumberId,
    wabaId: graph.wabaId,
    accessToken: graph.accessToken,
    appSecret: graph.appSecret,
    verifyToken: graph.verifyToken,
  },
})
