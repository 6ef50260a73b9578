/** The company's own settings, its private token, and the secret that signs callbacks. */
import { Type } from 'typebox'
import { stopWordsOf } from '../../domain/stop-words.ts'
import { rotateCallbackSecret } from '../../flows/rotate-callback-secret.ts'
import { showId } from '../../lib/ids.ts'
import {
  changeCompany,
  getCompany,
  readPrivateToken,
  rotatePrivateToken,
  type Company,
} from '../../store/companies.ts'
import { readStopWords, saveStopWords } from '../../store/stop-words.ts'
import { readVersion } from '../../store/versions.ts'
import { findWebhook, readSecret, removeWebhook, saveWebhook, webhookEvents } from '../../store/webhooks.ts'
import { changed, done, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { given } from './users.ts'
import { checkVersion, flag, instant, listOf, nullable, oneOf, text, whole } from './wire.ts'

const policies = ['leave', 'send_again'] as const

const settings = {
  name: Type.Optional(text('The name that people sign in with.')),
  timeZone: Type.Optional(text('Like America/Sao_Paulo: for caps, hours and reports.')),
  tokenTtlSeconds: Type.Optional(whole('How long a token of the unified API is good.', 1, 2_000_000_000)),
  attendanceIdleHours: Type.Optional(whole('After so many idle hours an attendance ends.', 1, 8760)),
  unknownPolicy: Type.Optional(
    oneOf(policies, 'What to do when a hand-over got no answer: leave it to a person, or send again.'),
  ),
}

const CompanyOut = Type.Object({
  id: Type.String(),
  ...settings,
  suspendedAt: nullable(instant('Since when nothing is sent.')),
  createdAt: instant('When the company was made.'),
})

const show = (company: Company) => ({ ...company, id: showId('cmp', company.id) })

const SecretOut = Type.Object({ secret: Type.String() })
const overlapHours = Type.Optional(
  Type.Integer({
    description: 'How long the old one stays good along with the new one.',
    minimum: 0,
    maximum: 720,
    default: 24,
  }),
)

const WebhookOut = Type.Object({
  url: Type.String(),
  events: Type.Array(Type.String(), { description: 'Empty: all.' }),
  disabledAt: nullable(instant('Since when it is off.')),
  disabledReason: nullable(Type.String()),
  createdAt: instant('When it was set.'),
})

/** The secret is there when the webhook is new. */
const NewWebhookOut = Type.Object({
  ...WebhookOut.properties,
  secret: Type.Optional(
    Type.String({ description: 'Of a new webhook; a change keeps it and leaves it out.' }),
  ),
})

const settingRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/company',
    summary: 'Read the company',
    answer: CompanyOut,
    async handle({ db, companyId }) {
      const company = await getCompany(db, companyId)
      return company ? done(show(company), await readVersion(db, 'company', companyId, companyId)) : notFound
    },
  }),
  change({
    method: 'PATCH',
    path: '/company',
    noun: 'company',
    action: 'change',
    summary: 'Change the company',
    body: Type.Object(settings),
    answer: CompanyOut,
    async handle(call) {
      const { db, companyId, body } = call
      const stale = await checkVersion(call, 'company', companyId)
      if (stale) return stale
      const result = await changeCompany(db, companyId, body)
      if (!result?.ok) return unlessSaved(result)!
      return changed(
        show(result.value),
        { nounId: showId('cmp', companyId), detail: given(body) },
        { version: await readVersion(db, 'company', companyId, companyId) },
      )
    },
  }),
]

const words = Type.Optional(
  listOf(text('A word.', 50), 'In place of the usual ones; none: the usual ones.', 100),
)
const StopWords = Type.Object({ stop: words, start: words })
const UsualWords = Type.Object({ stop: Type.Array(Type.String()), start: Type.Array(Type.String()) })

const stopWordRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/company/stop-words',
    summary: 'Read the words by which people opt out of SMS',
    answer: Type.Object({ ...StopWords.properties, usual: UsualWords }),
    async handle({ db, companyId }) {
      const own = await readStopWords(db, companyId)
      const usual = stopWordsOf({ stop: null, start: null })
      return own
        ? done({
            stop: own.stop ?? [],
            start: own.start ?? [],
            usual: { stop: [...usual.stop], start: [...usual.start] },
          })
        : notFound
    },
  }),
  change({
    method: 'PUT',
    path: '/company/stop-words',
    noun: 'company',
    action: 'set_stop_words',
    summary: 'Set the words by which people opt out of SMS, and in again',
    body: StopWords,
    answer: StopWords,
    async handle({ db, companyId, body: { stop = [], start = [] } }) {
      const given = (list: string[]) => (list.length > 0 ? list : null)
      await saveStopWords(db, companyId, { stop: given(stop), start: given(start) })
      return changed({ stop, start }, { nounId: showId('cmp', companyId), detail: { stop, start } })
    },
  }),
]

const secretRoutes: Route[] = [
  change({
    method: 'POST',
    path: '/company/private-token/show',
    noun: 'private_token',
    action: 'show',
    summary: 'Show the private token of the account',
    description: 'Leaves an entry in the audit log; that is why it is no GET.',
    answer: Type.Object({ privateToken: Type.String() }),
    async handle({ deps, db, companyId }) {
      const privateToken = await readPrivateToken(db, deps.sealer, companyId)
      return privateToken === undefined
        ? notFound
        : changed({ privateToken }, { nounId: showId('cmp', companyId) })
    },
  }),
  change({
    method: 'POST',
    path: '/company/private-token/rotate',
    noun: 'private_token',
    action: 'rotate',
    summary: 'Replace the private token of the account',
    body: Type.Object({ overlapHours }),
    answer: Type.Object({
      privateToken: Type.String(),
      previousUntil: instant('Until then the old one works.'),
    }),
    async handle({ deps, db, companyId, body, now }) {
      const hours = body.overlapHours ?? 24
      const previousUntil = new Date(now.getTime() + hours * 3_600_000)
      const privateToken = await rotatePrivateToken(db, deps.sealer, companyId, previousUntil)
      if (privateToken === undefined) return notFound
      return changed(
        { privateToken, previousUntil },
        { nounId: showId('cmp', companyId), detail: { overlapHours: hours } },
      )
    },
  }),
  change({
    method: 'POST',
    path: '/company/callback-secret/show',
    noun: 'callback_secret',
    action: 'show',
    summary: 'Show the secret that signs callbacks',
    answer: SecretOut,
    async handle({ deps, db, companyId }) {
      const secret = await readSecret(db, deps.sealer, companyId, 'callbacks')
      return secret === undefined ? notFound : changed({ secret }, { nounId: showId('cmp', companyId) })
    },
  }),
  change({
    method: 'POST',
    path: '/company/callback-secret/rotate',
    noun: 'callback_secret',
    action: 'rotate',
    summary: 'Replace the secret that signs callbacks',
    body: Type.Object({ overlapHours }),
    answer: SecretOut,
    async handle({ deps, db, companyId, body }) {
      const { sealer, clock } = deps
      const secret = await rotateCallbackSecret({ db, sealer, clock }, companyId, body.overlapHours)
      return secret === undefined ? notFound : changed({ secret }, { nounId: showId('cmp', companyId) })
    },
  }),
]

const webhookRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/company/webhook',
    summary: 'Read the webhook',
    answer: WebhookOut,
    async handle({ db, companyId }) {
      const webhook = await findWebhook(db, companyId)
      return webhook ? done(webhook) : notFound
    },
  }),
  change({
    method: 'PUT',
    path: '/company/webhook',
    noun: 'webhook',
    action: 'set',
    summary: 'Set the webhook',
    description: 'The secret is in the answer when the webhook is new; a change keeps it.',
    body: Type.Object({
      url: text('http or https.', 2048),
      events: Type.Optional(
        listOf(oneOf(webhookEvents, 'An event.'), 'What it is told; none named: everything.', 20),
      ),
      isEnabled: flag('Off: nothing is sent.'),
    }),
    answer: NewWebhookOut,
    async handle({ deps, db, companyId, body, now }) {
      const { sealer, exceptions } = deps
      const result = await saveWebhook({ db, sealer, exceptions }, companyId, body, now)
      if (!result.ok) return unlessSaved(result)!
      return changed(result.value, { nounId: showId('cmp', companyId), detail: given(body) })
    },
  }),
  change({
    method: 'DELETE',
    path: '/company/webhook',
    noun: 'webhook',
    action: 'remove',
    summary: 'Remove the webhook',
    async handle({ db, companyId, now }) {
      return (await removeWebhook(db, companyId, now))
        ? changed(undefined, { nounId: showId('cmp', companyId) })
        : notFound
    },
  }),
  change({
    method: 'POST',
    path: '/company/webhook/secret/show',
    noun: 'webhook',
    action: 'show_secret',
    summary: "Show the webhook's secret",
    answer: SecretOut,
    async handle({ deps, db, companyId }) {
      const secret = await readSecret(db, deps.sealer, companyId, 'webhook')
      return secret === undefined ? notFound : changed({ secret }, { nounId: showId('cmp', companyId) })
    },
  }),
  change({
    method: 'POST',
    path: '/company/webhook/secret/rotate',
    noun: 'webhook',
    action: 'rotate_secret',
    summary: "Replace the webhook's secret",
    body: Type.Object({ overlapHours }),
    answer: SecretOut,
    async handle({ deps, db, companyId, body }) {
      const { sealer, clock } = deps
      const secret = await rotateCallbackSecret(
        { db, sealer, clock },
        companyId,
        body.overlapHours,
        'webhook',
      )
      return secret === undefined ? notFound : changed({ secret }, { nounId: showId('cmp', companyId) })
    },
  }),
]

export const companyRoutes: Route[] = [...settingRoutes, ...stopWordRoutes, ...secretRoutes, ...webhookRoutes]
