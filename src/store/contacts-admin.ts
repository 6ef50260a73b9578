/** Contacts as people handle them: search, change, what is known about one, and erasing one. */
import { phoneKey, readDigits, readEmail } from '../domain/address.ts'
import type { Channel } from '../domain/channel.ts'
import type { Contact } from '../domain/contact.ts'
import { otherSpelling } from '../domain/restriction.ts'
import { notSaved, saved, taken, type FieldProblem, type Saved } from '../domain/saved.ts'
import { isUniqueViolation, type Queryable } from './db.ts'

export type ContactRecord = Contact & { createdAt: Date }

const columns = `id, phone, email, name, tax_id as "taxId", custom_code as "customCode", tag,
  coalesce(jokers, '{}') as jokers, segment_id as "segmentId", last_interaction_at as "lastInteractionAt",
  opted_out_channels as "optedOutChannels", marketing_opted_out_at as "marketingOptedOutAt",
  email_bounced_at as "emailBouncedAt", created_at as "createdAt"`

/** By the beginning of a phone number, an e-mail address or a name: each has an index of its own. */
export type ContactSearch =
  | { kind: 'all' }
  | { kind: 'phone'; digits: string }
  | { kind: 'email'; prefix: string }
  | { kind: 'name'; prefix: string }

export function readContactSearch(text: string): ContactSearch {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'all' }
  const digits = trimmed.replace(/^\+|[\s().-]/g, '')
  if (/^\d{2,15}$/.test(digits)) return { kind: 'phone', digits }
  if (trimmed.includes('@')) return { kind: 'email', prefix: trimmed.toLowerCase() }
  return { kind: 'name', prefix: trimmed.toLowerCase() }
}

const likePrefix = (text: string) => `${text.replaceAll(/[\\%_]/g, '\\$&')}%`

export type ContactCursor = { sort: string; id: string }

/** In the order of what is searched by; everybody: newest first. */
export async function searchContacts(
  db: Queryable,
  companyId: string,
  search: ContactSearch,
  page: { after?: ContactCursor; limit: number; segmentId?: string },
): Promise<(ContactRecord & { sort: string })[]> {
  const { after, limit, segmentId } = page
  const values = [companyId, after?.sort, after?.id, limit, segmentId]
  const rest = `and ($5::uuid is null or segment_id = $5)`
  switch (search.kind) {
    case 'all':
      // As the index contact_list is written.
      return await db.query(
        `select ${columns}, '' as sort from contact where company_id::text = $1::text and ($2::text is null or id < $3::uuid) ${rest}
          order by id desc limit $4`,
        values,
      )
    case 'phone': {
      // A whole number may be typed in either spelling; its key has one.
      const key = phoneKey(search.digits)
      return await db.query(
        `select ${columns}, phone_key as sort from contact where company_id = $1 and phone_key is not null
          and (phone_key between $6 and $6 || '999999999999999' or phone_key = $7)
          and ($2::text is null or (phone_key, id) > ($2, $3::uuid)) ${rest} order by phone_key, id limit $4`,
        [...values, search.digits, key],
      )
    }
    case 'email':
      return await db.query(
        `select ${columns}, email_key as sort from contact where company_id = $1 and email_key like $6
          and ($2::text is null or (email_key ~>~ $2 or (email_key = $2 and id > $3::uuid))) ${rest}
          order by email_key using ~<~, id limit $4`,
        [...values, likePrefix(search.prefix)],
      )
    case 'name':
      return await db.query(
        `select ${columns}, lower(name) as sort from contact where company_id = $1 and name is not null and lower(name) like $6
          and ($2::text is null or (lower(name) ~>~ $2 or (lower(name) = $2 and id > $3::uuid))) ${rest}
          order by lower(name) using ~<~, id limit $4`,
        [...values, likePrefix(search.prefix)],
      )
  }
}

export async function getContactRecord(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<ContactRecord | undefined> {
  const rows = await db.query<ContactRecord>(
    `select ${columns} from contact where company_id = $1 and id = $2`,
    [companyId, id],
  )
  return rows[0]
}

/** An empty text removes what is stored; what is not given stays. */
export type ContactChanges = {
  phone?: string
  email?: string
  name?: string
  taxId?: string
  customCode?: string
  tag?: string
  jokers?: (string | null)[]
  segmentId?: string
  optedOutChannels?: Channel[]
}

export async function changeContact(
  db: Queryable,
  companyId: string,
  id: string,
  changes: ContactChanges,
): Promise<Saved<ContactRecord> | undefined> {
  const current = await getContactRecord(db, companyId, id)
  if (current === undefined) return undefined
  const problems: FieldProblem[] = []
  const phone = changes.phone ? readDigits(changes.phone) : undefined
  const email = changes.email ? readEmail(changes.email) : undefined
  if (phone && !phone.ok) problems.push({ field: 'phone', message: phone.reason })
  if (email && !email.ok) problems.push({ field: 'email', message: email.reason })
  if ((changes.phone ?? current.phone ?? '') === '' && (changes.email ?? current.email ?? '') === '')
    problems.push({ field: 'phone', message: 'or email must stay' })
  if (changes.segmentId && !(await hasSegment(db, companyId, changes.segmentId)))
    problems.push({ field: 'segmentId', message: 'is no segment of this company' })
  if (problems.length > 0) return notSaved(...problems)
  const next = <T>(given: T | undefined, stored: T) => (given === undefined ? stored : given || null)
  const read = { phone: phone?.ok ? phone.phone : undefined, email: email?.ok ? email.email : undefined }
  try {
    const [contact] = await db.query<ContactRecord>(
      `update contact set phone = $3, phone_key = $4, email = $5, email_key = $6, name = $7, tax_id = $8, custom_code = $9, tag = $10,
          jokers = $11, segment_id = $12, opted_out_channels = $13,
          -- What was said of the old mailbox says nothing about the new one.
          email_bounced_at = case when email_key is distinct from $6 then null else email_bounced_at end
        where company_id = $1 and id = $2 returning ${columns}`,
      [
        companyId,
        id,
        changes.phone === undefined ? current.phone : (read.phone?.e164 ?? null),
        changes.phone === undefined ? current.phone && keyOf(current.phone) : (read.phone?.key ?? null),
        changes.email === undefined ? current.email : (read.email?.address ?? null),
        changes.email === undefined ? current.email?.toLowerCase() : (read.email?.key ?? null),
        next(changes.name, current.name),
        next(changes.taxId, current.taxId),
        next(changes.customCode, current.customCode),
        next(changes.tag, current.tag),
        changes.jokers ?? current.jokers,
        next(changes.segmentId, current.segmentId),
        changes.optedOutChannels ?? current.optedOutChannels,
      ],
    )
    return contact && saved(contact)
  } catch (error) {
    if (isUniqueViolation(error))
      return notSaved(taken(changes.phone ? 'phone' : 'email', changes.phone || (changes.email ?? '')))
    throw error
  }
}

async function hasSegment(db: Queryable, companyId: string, id: string): Promise<boolean> {
  return (
    (await db.query('select 1 from segment where company_id = $1 and id = $2', [companyId, id])).length > 0
  )
}

export type ContactWindow = { lineId: string; receivedAt: Date }

export const listWindows = (db: Queryable, companyId: string, contactId: string): Promise<ContactWindow[]> =>
  db.query<ContactWindow>(
    `select w.line_id as "lineId", w.received_at as "receivedAt" from contact_window w join contact c on c.id = w.contact_id
      where c.company_id = $1 and w.contact_id = $2 order by w.received_at desc limit 100`,
    [companyId, contactId],
  )

/** Numbers are kept with a plus sign, keys without. */
const keyOf = (phone: string): string => phoneKey(phone.replace(/^\+/, ''))

/** Every way the contact's addresses may have been written when a message was sent. */
export function recipientSpellings(contact: Pick<Contact, 'phone' | 'email'>): string[] {
  const { phone, email } = contact
  const key = phone === null ? undefined : keyOf(phone)
  const spellings = [phone?.replace(/^\+/, ''), key, key && otherSpelling(key), email, email?.toLowerCase()]
  return [...new Set(spellings.filter((item): item is string => Boolean(item)))]
}

/**
 * Forgets a person: the contact with windows, attendances and what they wrote; of messages to them recipient, content,
 * reasons and the details of their timeline; what receivers were told of either. What still waits to leave does not
 * leave. Returns how many messages were emptied.
 */
export async function eraseContact(
  transaction: Queryable,
  companyId: string,
  id: string,
  now: Date,
): Promise<{ messages: number } | undefined> {
  const [contact] = await transaction.query<Pick<Contact, 'phone' | 'email'>>(
    'select phone, email from contact where company_id = $1 and id = $2 for update',
    [companyId, id],
  )
  if (contact === undefined) return undefined
  const found = await transaction.query<{ id: string }>(
    `select id from message where company_id = $1 and recipient = any($2::text[]) order by id for update`,
    [companyId, recipientSpellings(contact)],
  )
  const ids = found.map((row) => row.id)
  const removed = await transaction.query<{ id: string }>(
    'delete from outbox where message_id = any($1::uuid[]) and handed_over_epoch is null returning message_id as id',
    [ids],
  )
  await transaction.query(
    `update message set recipient = 'erased', contact_id = null, document_number = null, contract_code = null, call_id = null,
        callback = null, reasons = null, acceptance = acceptance - 'verdicts', error_message = null, content = '{"kind":"text","text":"","files":[]}',
        state = case when id = any($2::uuid[]) then 'blocked' else state end,
        settled_at = case when id = any($2::uuid[]) then $3 else settled_at end
      where id = any($1::uuid[])`,
    [ids, removed.map((row) => row.id), now],
  )
  await transaction.query(
    // Exchanges name the person, and so do a server's words and what a rule matched.
    'update message_event set detail = null where message_id = any($1::uuid[]) and detail is not null',
    [ids],
  )
  // What receivers were told of messages to the person, and of those from them.
  await transaction.query(
    `delete from callback where company_id = $1 and subject_id in (
        select unnest($2::uuid[]) union all select id from inbound_message where company_id = $1 and contact_id = $3)`,
    [companyId, ids, id],
  )
  await transaction.query('delete from contact where company_id = $1 and id = $2', [companyId, id])
  return { messages: ids.length }
}
