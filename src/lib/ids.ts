/** UUIDv7 inside, a readable prefix outside (`msg_0198…`): the prefix tells people and logs what an id is of. */
import { randomFillSync } from 'node:crypto'

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
  | 'sbx'

let lastMs = 0
let counter = 0
/** The time of `lastMs` as ids begin with it. */
let beginning = ''

/**
 * Later ids of a process sort after earlier ones, also within a millisecond: what was accepted first leaves first.
 * The twelve bits after the time count (RFC 9562, method 1); the rest is chance.
 */
export function newId(): string {
  const time = nextTime()
  const chance = nextChance()
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-${time.slice(12)}-${chance.slice(0, 4)}-${chance.slice(4)}`
}

/** An id that is only ever shown. */
export const newShownId = (prefix: IdPrefix): string => `${prefix}_${nextTime()}${nextChance()}`

/** The first half of an id: 48 bits of time, the version, the count. */
function nextTime(): string {
  const nowMs = Date.now()
  // A clock that is set back a little is waited for; one that was wrong is not followed.
  if (nowMs > lastMs || nowMs < lastMs - 10_000) startAt(nowMs)
  else if (++counter > 0xfff) startAt(lastMs + 1)
  return beginning + (0x7000 + counter).toString(16)
}

function startAt(ms: number): void {
  lastMs = ms
  counter = 0
  beginning = ms.toString(16).padStart(12, '0')
}

/** Random bytes as text, for 512 ids: one by one they cost twice as much. */
const pool = Buffer.alloc(8 * 512)
let chances = ''
let used = 0

/** The second half: the variant and 62 random bits. */
function nextChance(): string {
  if (used === chances.length) {
    randomFillSync(pool)
    for (let index = 0; index < pool.length; index += 8) pool[index] = (pool[index]! & 0x3f) | 0x80
    chances = pool.toString('hex')
    used = 0
  }
  return chances.slice(used, (used += 16))
}

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
