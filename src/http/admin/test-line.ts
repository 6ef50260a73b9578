/**
 * "Test this line": a real message over the very line. The worker that drives the line sends it, so the test goes over
 * the session, the rate and the bind that real messages use; this route waits for what comes of it.
 */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import { getLine } from '../../store/lines.ts'
import { readTimeline, type Timeline } from '../../store/timeline.ts'
import { changed, invalid, notFound } from './replies.ts'
import { act, type Route } from './route.ts'
import { readRecipient, refusalOf, requestOf } from './sending.ts'
import { optionalText, text, whole } from './wire.ts'

export const maxWaitSeconds = 15
const lookEveryMs = 200

export const TestOut = Type.Object({
  messageId: Type.String(),
  state: Type.String({ description: '`queued` when nothing came of it yet.' }),
  waiting: Type.Union([Type.Object({}), Type.Null()]),
  error: Type.Union([Type.Object({}), Type.Null()]),
  events: Type.Array(Type.Object({}), { description: 'Attempts with the exchange, as in the timeline.' }),
})

export const showTest = (messageId: string, timeline: Timeline | undefined) => ({
  messageId: showId('msg', messageId),
  state: timeline?.state ?? 'queued',
  waiting: timeline?.waiting ?? null,
  error: timeline?.error ?? null,
  events: timeline?.events ?? [],
})

export const testLineRoutes: Route[] = [
  act({
    method: 'POST',
    path: '/lines/:id/test',
    ids: ['lin'],
    noun: 'line',
    action: 'test',
    summary: 'Send a real message over this line',
    description:
      'Waits up to 15 seconds and answers what the provider said. On WhatsApp a template is needed unless the window is open.',
    body: Type.Object({
      recipient: text('Number with country code, or e-mail address.'),
      text: optionalText('Free text.', 4096),
      subject: optionalText('Of an e-mail.', 998),
      templateCode: optionalText('A template instead of text.'),
      variables: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4096 }))),
      waitSeconds: Type.Optional(
        whole(
          'How long to wait; 0 answers with the id at once. 15 unless told otherwise.',
          0,
          maxWaitSeconds,
        ),
      ),
    }),
    answer: TestOut,
    async handle({ deps, db, companyId, ids: [id = ''], body, caller, request }) {
      const line = await getLine(db, companyId, id)
      if (line === undefined) return notFound
      const reading = readRecipient(line.channel, body.recipient)
      if (!reading.ok) return invalid({ field: 'recipient', message: reading.reason })
      const outcome = await deps.accept({
        sender: {
          kind: 'console_user',
          id: caller.kind === 'user' ? caller.userId : caller.keyId,
          companyId,
        },
        requestId: request.id,
        isDryRun: false,
        request: requestOf({
          channel: line.channel,
          recipient: reading.recipient,
          line: { kind: 'line', id },
          subject: body.subject ?? (line.channel === 'email' ? 'Test of this line' : undefined),
          what: body.templateCode
            ? {
                kind: 'template',
                by: 'code',
                name: body.templateCode,
                variables: Object.entries(body.variables ?? {}).map(([name, value]) => ({ name, value })),
                files: [],
              }
            : { kind: 'text', text: body.text ?? `Test of ${line.name}`, files: [] },
        }),
      })
      const refused = refusalOf(outcome, (at) =>
        at === 'template'
          ? 'templateCode'
          : at.startsWith('variables')
            ? at
            : at === 'text'
              ? 'text'
              : 'body',
      )
      if (refused) return refused
      const messageId = outcome.kind === 'accepted' ? outcome.messageId! : ''
      const timeline = await waitForAnswer(
        () => readTimeline(db, companyId, messageId),
        (body.waitSeconds ?? maxWaitSeconds) * 1000,
      )
      return changed(showTest(messageId, timeline), {
        nounId: showId('lin', id),
        detail: { messageId: showId('msg', messageId), state: timeline?.state },
      })
    },
  }),
]

/** Settled, tried once, or waiting for a person: nothing more will come soon. */
const isAnswered = ({ state, events, waiting }: Timeline): boolean =>
  (state !== 'queued' && state !== 'sending') ||
  events.some(({ kind }) => kind === 'attempt') ||
  waiting?.reason === 'line_paused' ||
  waiting?.reason === 'rules'

export async function waitForAnswer(
  look: () => Promise<Timeline | undefined>,
  waitMs: number,
): Promise<Timeline | undefined> {
  const until = performance.now() + waitMs
  for (;;) {
    const timeline = await look()
    if (timeline === undefined || isAnswered(timeline) || performance.now() >= until) return timeline
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
  }
}
