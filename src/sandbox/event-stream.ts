/** Server-sent events for live pages. A page that cannot keep up is told to load anew instead of being flooded. */
import type { ServerResponse } from 'node:http'
import type { ApiContext } from './api-context.ts'
import { sendJson } from './http.ts'
import type { Exchange } from './http.ts'

const maxClients = 100
const flushMs = 100
const maxPerFlush = 200

type Client = { response: ServerResponse; waiting: { name: string; data: unknown }[]; isBehind: boolean }

export function createEventStream({ inbox, catcher }: Pick<ApiContext, 'inbox' | 'catcher'>) {
  const clients = new Set<Client>()

  function tell(name: string, data: unknown): void {
    for (const client of clients) {
      if (client.waiting.length >= maxPerFlush) client.isBehind = true
      else client.waiting.push({ name, data })
    }
  }

  const flush = () => {
    for (const client of clients) {
      if (client.isBehind) client.waiting = [{ name: 'refresh', data: {} }]
      client.isBehind = false
      if (client.waiting.length === 0) continue
      client.response.write(
        client.waiting.map(({ name, data }) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join(''),
      )
      client.waiting = []
    }
  }
  const flushTimer = setInterval(flush, flushMs)
  const pulseTimer = setInterval(() => {
    for (const { response } of clients) response.write(': still here\n\n')
  }, 15_000)
  const unsubscribe = [
    inbox.subscribe((event) =>
      tell(event.kind, event.kind === 'deleted' ? { ids: event.ids } : event.message),
    ),
    catcher.subscribe((callback) => tell('callback', callback)),
  ]

  return {
    attach({ response }: Exchange): Promise<void> {
      if (clients.size >= maxClients) {
        sendJson(response, 503, { error: { message: `More than ${maxClients} pages listen already.` } })
        return Promise.resolve()
      }
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      })
      response.write('retry: 1000\n\n')
      const client: Client = { response, waiting: [], isBehind: false }
      clients.add(client)
      response.on('close', () => clients.delete(client))
      return Promise.resolve()
    },
    stop() {
      clearInterval(flushTimer)
      clearInterval(pulseTimer)
      for (const stop of unsubscribe) stop()
      for (const { response } of clients) response.end()
    },
  }
}
