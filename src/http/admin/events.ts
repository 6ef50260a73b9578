/** `GET /events`: the stream behind live pages. */
import { Type } from 'typebox'
import { read, type Route } from './route.ts'
import { idOf, listOf, uuidOf } from './wire.ts'

export const eventRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/events',
    summary: 'Live events',
    description:
      'Server-sent events: `message` (a new one), `received` (somebody wrote), `outcome` (what was counted since), `state` (of a watched message), `lane` (one that changed). At most once a second each.',
    query: Type.Object({
      watch: Type.Optional(
        listOf(idOf('msg', 'A message.'), 'Messages whose states are told, separated by commas.', 100),
      ),
    }),
    async handle({ deps, companyId, query, request, reply }) {
      reply.hijack()
      const response = reply.raw
      const listener = {
        companyId,
        watchedIds: (query.watch ?? []).map((id) => uuidOf('msg', id)),
        response,
      }
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
      })
      response.write('retry: 3000\n\n')
      // A browser comes back by itself; too many means that another process should take it.
      if (!deps.live.join(listener)) response.end()
      return { kind: 'sent' }
    },
  }),
]
