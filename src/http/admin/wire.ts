/** Schemas and helpers that the nouns share: ids, pages, instants, versions. */
import { Type, type Static, type TObject, type TSchema } from 'typebox'
import { apis, channels } from '../../domain/channel.ts'
import { parseId, showId, type IdPrefix } from '../../lib/ids.ts'
import type { VersionedTable } from '../../store/versions.ts'
import { lockVersion, readVersion } from '../../store/versions.ts'
import { notFound, type Refused } from './replies.ts'
import type { Call } from './route.ts'

export const text = (description: string, maxLength = 255) => Type.String({ description, maxLength })
export const optionalText = (description: string, maxLength = 255) =>
  Type.Optional(text(description, maxLength))
/** An empty text removes what is stored. */
export const clearableText = (description: string, maxLength = 255) =>
  Type.Optional(
    Type.String({ description: `${description} Empty: removes it.`, maxLength, 'x-empty-is-value': true }),
  )
export const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
export const whole = (description: string, minimum: number, maximum: number) =>
  Type.Integer({ description, minimum, maximum })
export const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.String({ description, enum: [...values], 'x-says': `must be one of ${values.join(', ')}` }),
  )
export const channel = (description = 'The channel.') => oneOf(channels, description)
export const api = (description = 'The API.') => oneOf(apis, description)
export const listOf = <T extends TSchema>(item: T, description: string, maxItems = 1000) =>
  Type.Array(item, { description, maxItems })
export const instant = (description: string) =>
  Type.String({ description, format: 'date-time', maxLength: 40 })
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const nullable = orNull

export const idOf = (prefix: IdPrefix, description: string) =>
  Type.String({
    description,
    pattern: `^${prefix}_[0-9a-f]{32}$`,
    'x-says': `must be an id like ${prefix}_0198…`,
    maxLength: 40,
  })

/** Read by a pattern before, so it is one. */
export const uuidOf = (prefix: IdPrefix, shown: string): string => parseId(prefix, shown)!
export const maybeUuid = (prefix: IdPrefix, shown: string | undefined): string | undefined =>
  shown === undefined ? undefined : uuidOf(prefix, shown)
export const shown = (prefix: IdPrefix, id: string | null): string | null => id && showId(prefix, id)

export const maxPageSize = 200
export const pageQuery = {
  cursor: Type.Optional(Type.String({ description: '`nextCursor` of the page before.', maxLength: 500 })),
  limit: Type.Optional(
    Type.Integer({ description: 'Items per page.', minimum: 1, maximum: maxPageSize, default: 50 }),
  ),
}
export const PageQuery = Type.Object(pageQuery)

export const pageOut = (item: TSchema) =>
  Type.Object({
    items: Type.Array(item),
    nextCursor: orNull(Type.String({ description: 'Asks for the next page; null at the end.' })),
  })

export const limitOf = (query: { limit?: number }): number => query.limit ?? 50

export const encodeCursor = (parts: readonly string[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** Undefined when it is none of ours: the first page then, as nothing better can be done. */
export function decodeCursor(cursor: string | undefined, length: number): string[] | undefined {
  if (cursor === undefined) return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    const isOurs =
      Array.isArray(parts) &&
      parts.length === length &&
      parts.every((part) => typeof part === 'string' && !part.includes('\0'))
    return isOurs ? (parts as string[]) : undefined
  } catch {
    return undefined
  }
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** For lists in the order of ids. */
export function cursorId(cursor: string | undefined): string | undefined {
  const id = decodeCursor(cursor, 1)?.[0]
  return id !== undefined && uuid.test(id) ? id : undefined
}

export const isUuid = (value: string): boolean => uuid.test(value)

/** One more than asked for was read, to know whether there is a next page. */
export function pageOfRows<T>(
  rows: readonly T[],
  limit: number,
  cursorOf: (last: T) => readonly string[],
  show: (row: T) => unknown,
): { items: unknown[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  return {
    items: page.map(show),
    nextCursor: rows.length > limit ? encodeCursor(cursorOf(page.at(-1)!)) : null,
  }
}

/** An instant as people and programs write it; a date alone is the start of that day in UTC. */
export const instantPattern =
  '^\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,6})?)?(?:Z|[+-]\\d{2}:\\d{2}))?$'
export const instantIn = (description: string) =>
  Type.Optional(
    Type.String({
      description,
      pattern: instantPattern,
      'x-says': 'must be a date (2026-12-31) or an instant with its zone (2026-12-31T23:59:59Z)',
      maxLength: 40,
    }),
  )

export function readInstant(value: string | undefined): Date | undefined {
  if (value === undefined) return undefined
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? undefined : at
}

/** Holds the record and compares its version with the one the caller saw. */
export async function checkVersion<Q extends TObject, B extends TObject>(
  { db, companyId, ifMatch }: Pick<Call<Q, B>, 'db' | 'companyId' | 'ifMatch'>,
  table: VersionedTable,
  id: string,
): Promise<Refused | undefined> {
  const version = await lockVersion(db, table, companyId, id)
  if (version === undefined) return notFound
  if (ifMatch === undefined || ifMatch === version) return undefined
  return {
    kind: 'refused',
    status: 412,
    message: 'somebody has changed it in the meantime; look at it again',
  }
}

export const versionOf = (
  call: { db: Call<TObject, TObject>['db']; companyId: string },
  table: VersionedTable,
  id: string,
): Promise<string | undefined> => readVersion(call.db, table, call.companyId, id)

export type Input<T extends TSchema> = Static<T>
