/** UUIDv7 inside, a readable prefix outside (`msg_0198…`): the prefix tells people and logs what an id is of. */
import { randomUUIDv7 } from 'node:crypto'

export type IdPrefix =
  | 'msg'
  | 'req'
  | 'cmp'
  | 'usr'
  | 'dtk'
  | 'seg'
  | 'lin'
  | 'tpl'
  | 'med'
  | 'con'
  | 'rul'
  | 'lst'
  | 'att'
  | 'evt'
  | 'inb'
  | 'ses'
  | 'key'
  | 'aud'
  | 'alr'
  | 'job'

export const newId = (): string => randomUUIDv7()

export const showId = (prefix: IdPrefix, id: string): string => `${prefix}_${id.replaceAll('-', '')}`

/** The UUID inside a shown id; undefined when it is no id of that kind. */
export function parseId(prefix: IdPrefix, shown: string): string | undefined {
  const match = /^([a-z]{3})_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(shown)
  return match && match[1] === prefix ? match.slice(2).join('-') : undefined
}

/** The smallest UUIDv7 of an instant: range bounds for keyset pages and partitions. */
export function firstIdAt(at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

export const idTime = (id: string): Date => new Date(parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
