/** `/docs`: the API reference for people, and the OpenAPI documents it is made from. */
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { jsonType } from '../errors.ts'
import type { Surface } from '../server.ts'
import type { ApiDocument } from './openapi.ts'
import { renderPage } from './page.ts'

const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const createDocsSurface =
  (documents: ApiDocument[]): Surface =>
  (scope) => {
    const page = renderPage(documents)
    const css = readFileSync(new URL('./docs.css', import.meta.url))
    scope.get('/docs', (_request, reply) => sendDocument(reply, 'text/html; charset=utf-8', page))
    scope.get('/docs/docs.css', (_request, reply) => sendDocument(reply, 'text/css; charset=utf-8', css))
    for (const { name, document } of documents) {
      const json = JSON.stringify(document)
      scope.get(`/docs/${name}.json`, (_request, reply) => sendDocument(reply, jsonType, json))
    }
  }

const sendDocument = (reply: FastifyReply, type: string, body: string | Buffer): FastifyReply =>
  reply
    .header('content-type', type)
    .header('content-security-policy', contentSecurityPolicy)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'public, max-age=300')
    .send(body)
