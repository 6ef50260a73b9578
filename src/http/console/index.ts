/** The console at `/`: its built files, and its page for every address that no other surface and no file answers. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendNotFound } from '../errors.ts'
import type { Surface } from '../server.ts'
import { createBuildReader, extensions, type BuiltFile, type Encoding } from './files.ts'

/** First steps of paths that belong to programs: what is not found there is said in JSON, as ever. */
const ofPrograms = new Set(['v1', 'admin', 'assets', 'docs', 'health', 'hooks', 'metrics', 'unsubscribe'])

/** Vite writes this wherever a nonce belongs (see console/vite.config.ts). */
const nonceMark = '__CSP_NONCE__'

/**
 * Style elements are made at run time by Mantine and carry the page's nonce; style attributes cannot carry one.
 * Frames show e-mails, without scripts, from the page's own text.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "frame-src 'self' blob:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

const missing = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Pombo</title></head>
<body><h1>The console is not built</h1>
<p><code>npm start</code> builds it and starts Pombo. To build it alone, run
<code>npx vite build console</code> in the folder of the checkout and load this page again.</p></body></html>
`

export function createConsoleSurface({ folder }: { folder: string }): Surface {
  const readBuild = createBuildReader(folder)
  return (scope) => {
    scope.route({
      method: ['GET', 'HEAD'],
      url: '/*',
      async handler(request, reply) {
        const path = request.url.replace(/[?#].*$/s, '')
        const build = await readBuild()
        const file = build?.files.get(path)
        if (file) return await sendFile(request, reply, file)
        if (ofPrograms.has(path.split('/')[1] ?? '')) return sendNotFound(request, reply)
        if (build === undefined) return sendPage(reply.code(503), missing)
        return sendPage(reply, build.html)
      },
    })
  }
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  return withCommonHeaders(reply)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policyWith(nonce))
    .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('x-frame-options', 'DENY')
    .header('cache-control', 'no-store')
    .send(html.replaceAll(nonceMark, nonce))
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: BuiltFile,
): Promise<FastifyReply> {
  withCommonHeaders(reply)
    .header('etag', file.etag)
    .header('vary', 'accept-encoding')
    .header('cache-control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
  const encoding = file.encodings.find((one) => accepts(request, one))
  if (encoding) reply.header('content-encoding', encoding)
  const bytes = await readFile(file.path + (encoding ? extensions[encoding] : '')).catch(() => undefined)
  // Built anew between the look and the reading.
  if (bytes === undefined) return sendNotFound(request, reply.removeHeader('content-encoding'))
  return reply.header('content-type', file.type).send(bytes)
}

const withCommonHeaders = (reply: FastifyReply): FastifyReply =>
  reply
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-resource-policy', 'same-origin')

function accepts({ headers }: FastifyRequest, encoding: Encoding): boolean {
  const accepted = (headers['accept-encoding'] ?? '').split(',')
  return accepted.some((one) => {
    const [name = '', weight = ''] = one.trim().toLowerCase().split(';')
    return name.trim() === encoding && !/q=0(\.0*)?$/.test(weight.replaceAll(' ', ''))
  })
}
