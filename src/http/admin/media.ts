/** The media library: upload, list, remove. */
import { Type } from 'typebox'
import { mediaPath, type MediaFile } from '../../domain/media.ts'
import { showId } from '../../lib/ids.ts'
import type { Queryable } from '../../store/db.ts'
import { createMediaItem, getMediaItem, listMediaItems, templatesWithMedia } from '../../store/media.ts'
import { removeMediaItem } from '../../store/removals.ts'
import { takeBody } from '../read-body.ts'
import { changed, done, invalid, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import { idOf, oneOf, pageOut, text } from './wire.ts'

const MediaOut = Type.Object({
  id: idOf('med', 'The item.'),
  name: Type.String(),
  mimeType: Type.String(),
  size: Type.Integer(),
  url: Type.String({ description: 'As callers name it; with its extension.' }),
})

const mediaKinds = ['image', 'video', 'document'] as const
const kindOf = ({ mimeType }: MediaFile) =>
  mediaKinds.find((kind) => mimeType.startsWith(`${kind}/`)) ?? 'document'

const show = (publicUrl: string) => (item: MediaFile) => ({
  id: showId('med', item.id),
  name: item.name,
  mimeType: item.mimeType,
  size: item.size,
  url: publicUrl + mediaPath(item),
})

/** Storing a file wants a transaction: it takes part in the one that is there. */
const within = (transaction: Queryable) => ({
  query: transaction.query,
  transaction: <T>(work: (connection: Queryable) => Promise<T>) => work(transaction),
})

export const mediaRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/media',
    summary: 'List the media library',
    query: Type.Object({
      ...smallListQuery(['createdAt', 'name']),
      kind: Type.Optional(oneOf(mediaKinds, 'Only files of this kind.')),
    }),
    answer: pageOut(MediaOut),
    async handle({ deps, db, companyId, query }) {
      const all = await listMediaItems(db, companyId)
      return done(
        smallPage(query.kind ? all.filter((item) => kindOf(item) === query.kind) : all, query, {
          sorts: { createdAt: ({ id }) => id, name: ({ name }) => name.toLowerCase() },
          words: ({ name }) => [name],
          show: show(deps.publicUrl),
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/media/:id',
    ids: ['med'],
    summary: 'Read an item of the media library',
    answer: Type.Object({
      ...MediaOut.properties,
      usedBy: Type.Array(Type.Object({ id: idOf('tpl', 'The template.'), name: Type.String() }), {
        description: 'Templates whose text holds its address.',
      }),
    }),
    async handle({ deps, db, companyId, ids: [id = ''] }) {
      const item = await getMediaItem(db, companyId, id)
      if (item === undefined) return notFound
      const templates = await templatesWithMedia(db, companyId, id)
      const usedBy = templates.map((template) => ({ ...template, id: showId('tpl', template.id) }))
      return done({ ...show(deps.publicUrl)(item), usedBy })
    },
  }),
  change({
    method: 'POST',
    path: '/media',
    noun: 'media',
    action: 'upload',
    summary: 'Add a file to the media library',
    description: 'The body is the file itself.',
    query: Type.Object({ name: text('File name with its extension.') }),
    bodyKind: 'bytes',
    answer: MediaOut,
    status: 201,
    async handle({ deps, db, companyId, query, request }) {
      const bytes = takeBody(request)
      if (typeof bytes === 'string') return invalid({ field: 'body', message: 'is too large' })
      const result = await createMediaItem(within(db), companyId, { name: query.name, bytes })
      if (!result.ok)
        return unlessSaved({
          ...result,
          problems: result.problems.map((problem) => ({
            ...problem,
            field: problem.field === 'content' ? 'body' : problem.field,
          })),
        })!
      const { id, name, size } = result.value
      return changed(show(deps.publicUrl)(result.value), {
        nounId: showId('med', id),
        detail: { name, size },
      })
    },
  }),
  change({
    method: 'DELETE',
    path: '/media/:id',
    ids: ['med'],
    noun: 'media',
    action: 'remove',
    summary: 'Remove a file from the media library',
    async handle({ db, companyId, ids: [id = ''] }) {
      const item = await getMediaItem(db, companyId, id)
      if (item === undefined || !(await removeMediaItem(db, companyId, id))) return notFound
      return changed(undefined, { nounId: showId('med', id), detail: { name: item.name } })
    },
  }),
]
