/** The media library: named files of a company, with addresses that senders may use. */
import { nameKey } from '../domain/channel.ts'
import type { MediaFile, MediaReference } from '../domain/media.ts'
import { checkName, notSaved, saved, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import type { Db, Queryable } from './db.ts'
import { storeFile } from './files.ts'

/** What the library takes, by extension: what some channel can carry. */
const types: Readonly<Record<string, { mimeType: string; maxBytes: number }>> = {
  png: { mimeType: 'image/png', maxBytes: 5_000_000 },
  jpg: { mimeType: 'image/jpeg', maxBytes: 5_000_000 },
  jpeg: { mimeType: 'image/jpeg', maxBytes: 5_000_000 },
  mp4: { mimeType: 'video/mp4', maxBytes: 16_000_000 },
  pdf: { mimeType: 'application/pdf', maxBytes: 25_000_000 },
}

const columns = `id, name, extension, mime_type as "mimeType", encode(hash, 'hex') as hash, size`

export async function createMediaItem(
  db: Queryable & Pick<Db, 'transaction'>,
  companyId: string,
  input: { name: string; bytes: Buffer },
): Promise<Saved<MediaFile>> {
  const problems = checkName('name', input.name)
  if (problems.length > 0) return notSaved(...problems)
  const extension = /\.([a-z0-9]+)$/.exec(nameKey(input.name))?.[1] ?? ''
  const type = Object.hasOwn(types, extension) ? types[extension] : undefined
  if (type === undefined)
    return notSaved({ field: 'name', message: `must end in one of .${Object.keys(types).join(', .')}` })
  if (input.bytes.length === 0 || input.bytes.length > type.maxBytes)
    return notSaved({ field: 'content', message: `must have from 1 to ${type.maxBytes} bytes` })
  const file = await storeFile(db, companyId, input.bytes)
  const [item] = await db.query<MediaFile>(
    `insert into media_item (id, company_id, name, extension, mime_type, hash, size) values ($1, $2, $3, $4, $5, decode($6, 'hex'), $7)
      returning ${columns}`,
    [newId(), companyId, input.name.trim(), extension, type.mimeType, file.hash, input.bytes.length],
  )
  return saved(item!)
}

export async function getMediaItem(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<MediaFile | undefined> {
  return (
    await db.query<MediaFile>(`select ${columns} from media_item where company_id = $1 and id = $2`, [
      companyId,
      id,
    ])
  )[0]
}

export const listMediaItems = (db: Queryable, companyId: string): Promise<MediaFile[]> =>
  db.query<MediaFile>(`select ${columns} from media_item where company_id = $1 order by id limit 10000`, [
    companyId,
  ])

/** Templates whose texts hold the item's address: they would show a hole without it. */
export const templatesWithMedia = (
  db: Queryable,
  companyId: string,
  id: string,
): Promise<{ id: string; name: string }[]> =>
  db.query<{ id: string; name: string }>(
    `select id, name from template where company_id = $1 and content::text ilike '%/media/' || $2 || '.%' order by name limit 50`,
    [companyId, id.replaceAll('-', '')],
  )

/** By its address alone, whatever the company: the id in it is all that a browser knows. */
export async function findMediaByReference(
  db: Queryable,
  { id, extension }: MediaReference,
): Promise<(MediaFile & { companyId: string }) | undefined> {
  return (
    await db.query<MediaFile & { companyId: string }>(
      `select ${columns}, company_id as "companyId" from media_item where id = $1 and extension = $2`,
      [id, extension],
    )
  )[0]
}
