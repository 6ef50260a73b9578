/** Contacts and their 24-hour windows, outside of the accept path, which has statements of its own. */
import { readEmail, readDigits } from '../domain/address.ts'
import type { Contact } from '../domain/contact.ts'
import { notSaved, saved, type Saved } from '../domain/saved.ts'
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

export type ContactInput = {
  /** Digits with country code. */
  phone?: string
  email?: string
  name?: string
  taxId?: string
  customCode?: string
  tag?: string
  jokers?: (string | null)[]
  segmentId?: string
}

const columns = `id, phone, email, name, tax_id as "taxId", custom_code as "customCode", tag,
  coalesce(jokers, '{}') as jokers, segment_id as "segmentId", last_interaction_at as "lastInteractionAt",
  opted_out_channels as "optedOutChannels", marketing_opted_out_at as "marketingOptedOutAt",
  email_bounced_at as "emailBouncedAt"`

/** A contact that is there already (by phone or e-mail) is left as it is and returned. */
export async function createContact(
  db: Queryable,
  companyId: string,
  input: ContactInput,
): Promise<Saved<Contact>> {
  const phone = input.phone === undefined ? undefined : readDigits(input.phone)
  const email = input.email === undefined ? undefined : readEmail(input.email)
  if (!phone && !email) return notSaved({ field: 'phone', message: 'or email must be given' })
  if (phone && !phone.ok) return notSaved({ field: 'phone', message: phone.reason })
  if (email && !email.ok) return notSaved({ field: 'email', message: email.reason })
  const [contact] = await db.query<Contact>(
    `insert into contact (id, company_id, phone, phone_key, email, email_key, name, tax_id, custom_code, tag, jokers, segment_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict do nothing returning ${columns}`,
    [
      newId(),
      companyId,
      phone?.phone.e164,
      phone?.phone.key,
      email?.email.address,
      email?.email.key,
      input.name,
      input.taxId,
      input.customCode,
      input.tag,
      input.jokers,
      input.segmentId,
    ],
  )
  if (contact) return saved(contact)
  const [existing] = await db.query<Contact>(
    `select ${columns} from contact where company_id = $1 and (phone_key = $2 or email_key = $3) order by phone_key = $2 desc nulls last limit 1`,
    [companyId, phone?.phone.key, email?.email.key],
  )
  return saved(existing!)
}

export async function getContact(db: Queryable, companyId: string, id: string): Promise<Contact | undefined> {
  return (
    await db.query<Contact>(`select ${columns} from contact where company_id = $1 and id = $2`, [
      companyId,
      id,
    ])
  )[0]
}

/** `phoneKey` as domain/address reads it. */
export async function findContactByPhone(
  db: Queryable,
  companyId: string,
  phoneKey: string,
): Promise<Contact | undefined> {
  return (
    await db.query<Contact>(`select ${columns} from contact where company_id = $1 and phone_key = $2`, [
      companyId,
      phoneKey,
    ])
  )[0]
}

export async function findContactByEmail(
  db: Queryable,
  companyId: string,
  emailKey: string,
): Promise<Contact | undefined> {
  return (
    await db.query<Contact>(`select ${columns} from contact where company_id = $1 and email_key = $2`, [
      companyId,
      emailKey,
    ])
  )[0]
}

/** Pages of contacts in the order they came; `afterId` is the last id of the page before. */
export const listContacts = (
  db: Queryable,
  companyId: string,
  page: { afterId?: string; limit: number },
): Promise<Contact[]> =>
  db.query<Contact>(
    `select ${columns} from contact where company_id = $1 and ($2::uuid is null or id > $2) order by id limit $3`,
    [companyId, page.afterId, page.limit],
  )

/** A received message opens the window of its line; an older one never shortens it. */
export async function openWindow(
  db: Queryable,
  contactId: string,
  lineId: string,
  receivedAt: Date,
): Promise<void> {
  await db.query(
    `insert into contact_window (contact_id, line_id, received_at) values ($1, $2, $3)
      on conflict (contact_id, line_id) do update
      set received_at = greatest(contact_window.received_at, excluded.received_at)`,
    [contactId, lineId, receivedAt],
  )
}

export async function setOptedOutChannels(
  db: Queryable,
  companyId: string,
  id: string,
  channels: Contact['optedOutChannels'],
): Promise<Contact | undefined> {
  const [contact] = await db.query<Contact>(
    `update contact set opted_out_channels = $3 where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, channels],
  )
  return contact
}

/** A mail server said that there is no such mailbox; the first time counts. A contact with another address by now is left alone. */
export async function markEmailBounced(
  db: Queryable,
  companyId: string,
  id: string,
  emailKey: string,
  at: Date,
): Promise<void> {
  await db.query(
    {
      name: 'contact_bounced',
      text: `update contact set email_bounced_at = $4
        where company_id = $1 and id = $2 and email_key = $3 and email_bounced_at is null`,
    },
    [companyId, id, emailKey, at],
  )
}

/** A person knows better: the mailbox is there again. */
export async function clearEmailBounced(
  db: Queryable,
  companyId: string,
  id: string,
): Promise<Contact | undefined> {
  const [contact] = await db.query<Contact>(
    `update contact set email_bounced_at = null where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id],
  )
  return contact
}

/** `at` null takes it back. The first time counts. */
export async function setMarketingOptedOut(
  db: Queryable,
  companyId: string,
  id: string,
  at: Date | null,
): Promise<Contact | undefined> {
  const [contact] = await db.query<Contact>(
    `update contact set marketing_opted_out_at = case when $3::timestamptz is null then null
        else coalesce(marketing_opted_out_at, $3) end
      where company_id = $1 and id = $2 returning ${columns}`,
    [companyId, id, at],
  )
  return contact
}

/** Adds the channel to those the person wants nothing on. True when it was not there. */
export async function optOutOf(
  db: Queryable,
  companyId: string,
  id: string,
  channel: Contact['optedOutChannels'][number],
): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'contact_opt_out',
      text: `update contact set opted_out_channels = opted_out_channels || $3::text
        where company_id = $1 and id = $2 and not opted_out_channels @> array[$3::text] returning 1`,
    },
    [companyId, id, channel],
  )
  return rows.length > 0
}
