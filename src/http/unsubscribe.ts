/**
 * `/unsubscribe/:token`: POST unsubscribes at once and always the same way (mail programs do it by themselves); GET
 * shows a page with a button and changes nothing, since link checkers follow every address in a mail.
 */
import type { FastifyReply } from 'fastify'
import type { Unsubscribe } from '../flows/unsubscribe.ts'
import { sendError, sendNotFound } from './errors.ts'
import { readRawBodies, takeBody } from './read-body.ts'
import type { Surface } from './server.ts'
import type { BodyBudget } from './tracking.ts'

/** `List-Unsubscribe=One-Click`, as a form of either kind; what else is in it does not matter. */
const maxBytes = 64 * 1024

export const createUnsubscribeSurface =
  ({ see, unsubscribe, budget }: Unsubscribe & { budget: BodyBudget }): Surface =>
  (scope) => {
    readRawBodies(scope, { budget, maxBytes, isWanted: () => true })
    scope.get<{ Params: { token: string } }>('/unsubscribe/:token', async (request, reply) => {
      const seen = await see(request.params.token)
      return seen === undefined ? sendNotFound(request, reply) : sendPage(reply, question(seen.companyName))
    })
    scope.post<{ Params: { token: string } }>('/unsubscribe/:token', async (request, reply) => {
      if (takeBody(request) === 'too_large') return sendError(reply, 413, 'the body is too large')
      return (await unsubscribe(request.params.token))
        ? sendPage(reply, '<p>You will get no more e-mail from this sender.</p>')
        : sendNotFound(request, reply)
    })
  }

const escape = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Without an action the form goes to the address of the page itself. */
const question = (companyName: string): string =>
  `<p>Do you want no more e-mail from ${companyName === '' ? 'this sender' : escape(companyName)}?</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`

/** The address is a key: it is kept out of caches, search engines and the Referer of whatever comes next. */
const sendPage = (reply: FastifyReply, body: string): FastifyReply =>
  reply
    .code(200)
    .header('content-type', 'text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .header('x-robots-tag', 'noindex')
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unsubscribe</title>\n${body}\n</html>\n`,
    )
