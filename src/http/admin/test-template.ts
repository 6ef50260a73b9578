/** "Send a test": the template over the road of the APIs, to one recipient, with what a person filled in. */
import { Type } from 'typebox'
import { mediaFileRef, mediaPath, type MediaFile } from '../../domain/media.ts'
import type { Place } from '../../domain/outcome.ts'
import type { WhatToSend } from '../../domain/send-request.ts'
import type { Template } from '../../domain/template.ts'
import { showId } from '../../lib/ids.ts'
import { getMediaItem } from '../../store/media.ts'
import { getTemplate } from '../../store/templates.ts'
import { readTimeline } from '../../store/timeline.ts'
import { changed, invalid, notFound } from './replies.ts'
import { act, type Route } from './route.ts'
import { readRecipient, refusalOf, requestOf } from './sending.ts'
import { maxWaitSeconds, showTest, TestOut, waitForAnswer } from './test-line.ts'
import { flag, idOf, listOf, maybeUuid, text, uuidOf, whole } from './wire.ts'

const Body = Type.Object({
  recipient: text('Number with country code, or e-mail address.'),
  lineId: Type.Optional(idOf('lin', 'Over this line; without it, the one that would be chosen.')),
  variables: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 4096, 'x-empty-is-value': true })),
  ),
  mediaIds: Type.Optional(
    listOf(
      idOf('med', 'An item of the media library.'),
      'The file of a media header or of an e-mail, or the pictures of a carousel in order.',
      10,
    ),
  ),
  waitSeconds: Type.Optional(
    whole('How long to wait; 0 answers with the id at once. 15 unless told otherwise.', 0, maxWaitSeconds),
  ),
  isFlash: flag('SMS only: shown at once and not kept by the phone.'),
})

export const testTemplateRoutes: Route[] = [
  act({
    method: 'POST',
    path: '/templates/:id/test',
    ids: ['tpl'],
    noun: 'template',
    action: 'test',
    summary: 'Send a template to one recipient',
    description: 'A real message, which the rules decide about. Waits up to 15 seconds for what comes of it.',
    body: Body,
    answer: TestOut,
    async handle({ deps, db, companyId, ids: [id = ''], body, caller, request }) {
      const template = await getTemplate(db, companyId, id)
      if (template === undefined) return notFound
      const reading = readRecipient(template.channel, body.recipient)
      if (!reading.ok) return invalid({ field: 'recipient', message: reading.reason })
      const media: MediaFile[] = []
      for (const [at, shownId] of (body.mediaIds ?? []).entries()) {
        const item = await getMediaItem(db, companyId, uuidOf('med', shownId))
        if (item === undefined)
          return invalid({ field: `mediaIds[${at}]`, message: 'is not in the media library' })
        media.push(item)
      }
      const lineId = maybeUuid('lin', body.lineId)
      const outcome = await deps.accept({
        sender: {
          kind: 'console_user',
          id: caller.kind === 'user' ? caller.userId : caller.keyId,
          companyId,
        },
        requestId: request.id,
        isDryRun: false,
        request: requestOf({
          channel: template.channel,
          recipient: reading.recipient,
          line: lineId === undefined ? { kind: 'default', mayFailOver: false } : { kind: 'line', id: lineId },
          what: whatOf(template, body.variables ?? {}, media, deps.publicUrl),
          isFlash: template.channel === 'sms' && body.isFlash,
        }),
      })
      const refused = refusalOf(outcome, (at) => fieldOf(at, template))
      if (refused) return refused
      const messageId = outcome.kind === 'accepted' ? outcome.messageId! : ''
      const timeline = await waitForAnswer(
        () => readTimeline(db, companyId, messageId),
        (body.waitSeconds ?? maxWaitSeconds) * 1000,
      )
      return changed(showTest(messageId, timeline), {
        nounId: showId('tpl', id),
        detail: { messageId: showId('msg', messageId), state: timeline?.state },
      })
    },
  }),
]

/** A carousel's pictures are its parameters; all else takes one file at most. */
function whatOf(
  template: Template,
  variables: Record<string, string>,
  media: readonly MediaFile[],
  publicUrl: string,
): WhatToSend {
  const isCarousel = template.kind === 'carousel'
  return {
    kind: 'template',
    by: 'code',
    name: template.code,
    variables: isCarousel
      ? media.map((item, at) => ({ name: String(at + 1), value: publicUrl + mediaPath(item) }))
      : Object.entries(variables).map(([name, value]) => ({ name, value })),
    files: isCarousel
      ? []
      : media.map((item) => {
          const { name, mimeType } = mediaFileRef(item)
          return { name, mimeType, content: { kind: 'stored', hash: item.hash, size: item.size } }
        }),
  }
}

function fieldOf(at: Place, { kind }: Template): string {
  if (at.startsWith('files') || at.startsWith('header')) return 'mediaIds'
  if (at.startsWith('variables')) return kind === 'carousel' ? 'mediaIds' : at
  return at === 'line' ? 'lineId' : 'body'
}
