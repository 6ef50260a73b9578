/** Segments, which the unified API calls wallets. */
import { Type } from 'typebox'
import { showId } from '../../lib/ids.ts'
import { removeSegment, usersOfSegment } from '../../store/removals.ts'
import { changeSegment, createSegment, getSegment, listSegments, type Segment } from '../../store/segments.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, conflict, done, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import { given } from './users.ts'
import { checkVersion, idOf, nullable, optionalText, pageOut, text } from './wire.ts'

const SegmentOut = Type.Object({
  id: idOf('seg', 'The segment.'),
  name: Type.String(),
  clientCode: nullable(Type.String({ description: 'How callers of the unified API name it.' })),
})

const show = ({ id, name, clientCode }: Segment) => ({ id: showId('seg', id), name, clientCode })

export const segmentRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/segments',
    summary: 'List segments',
    query: Type.Object(smallListQuery(['name', 'createdAt'])),
    answer: pageOut(SegmentOut),
    async handle({ db, companyId, query }) {
      return done(
        smallPage(await listSegments(db, companyId), query, {
          sorts: { name: ({ name }) => name.toLowerCase(), createdAt: ({ id }) => id },
          words: ({ name, clientCode }) => [name, clientCode],
          show,
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/segments/:id',
    ids: ['seg'],
    summary: 'Read a segment',
    answer: SegmentOut,
    async handle({ db, companyId, ids: [id = ''] }) {
      const segment = await getSegment(db, companyId, id)
      return segment ? done(show(segment), await readVersion(db, 'segment', companyId, id)) : notFound
    },
  }),
  change({
    method: 'POST',
    path: '/segments',
    noun: 'segment',
    action: 'create',
    summary: 'Create a segment',
    body: Type.Object({ name: text('Its name.'), clientCode: optionalText('How callers name it.') }),
    answer: SegmentOut,
    status: 201,
    async handle({ db, companyId, body }) {
      const result = await createSegment(db, companyId, body)
      if (!result.ok) return unlessSaved(result)!
      return changed(show(result.value), { nounId: showId('seg', result.value.id), detail: given(body) })
    },
  }),
  change({
    method: 'PATCH',
    path: '/segments/:id',
    ids: ['seg'],
    noun: 'segment',
    action: 'change',
    summary: 'Change a segment',
    body: Type.Object({ name: optionalText('Its name.'), clientCode: optionalText('How callers name it.') }),
    answer: SegmentOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
      } = call
      const stale = await checkVersion(call, 'segment', id)
      if (stale) return stale
      const result = await changeSegment(db, companyId, id, body)
      if (!result?.ok) return unlessSaved(result)!
      return changed(
        show(result.value),
        { nounId: showId('seg', id), detail: given(body) },
        { version: await readVersion(db, 'segment', companyId, id) },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/segments/:id',
    ids: ['seg'],
    noun: 'segment',
    action: 'remove',
    summary: 'Remove a segment',
    description: 'Refused while a line or a rule names it.',
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const stale = await checkVersion(call, 'segment', id)
      if (stale) return stale
      const users = await usersOfSegment(db, companyId, id)
      if (users.length > 0) return conflict(`it is in use: ${users.join(', ')}`)
      const segment = await getSegment(db, companyId, id)
      await removeSegment(db, companyId, id)
      return changed(undefined, { nounId: showId('seg', id), detail: { name: segment?.name } })
    },
  }),
]
