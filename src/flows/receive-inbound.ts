/**
 * What a person writes to a line: finds or creates the contact, opens the window, counts as interaction, keeps an
 * open attendance alive, and is stored for the conversation. The answer "stop" to an SMS ends SMS. Repetitions, told
 * by the provider's id, have no effect.
 */
import { readDigits, type Phone } from '../domain/address.ts'
import { readStopWord, stopWordsOf } from '../domain/stop-words.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Db, Queryable } from '../store/db.ts'
import {
  createSenders,
  insertInbound,
  loadInboundLines,
  lockSenders,
  writeInboundEffects,
  writeMarketingChoices,
  type InboundEffects,
  type InboundRow,
  type NewSender,
} from '../store/inbound.ts'
import { findOldParts, type PartKey } from '../store/inbound-parts.ts'
import { isPart, joinParts, partPatienceMs, type InboundEntry } from './join-parts.ts'

export type { InboundEntry } from './join-parts.ts'

/** Told inside the transaction, like changes of state. */
export type OnReceived = (connection: Queryable, messages: readonly InboundRow[]) => Promise<void>

export type InboundContext = { db: Db; clock: Clock; log: Log; onReceived?: OnReceived }

/** The messages that were new. */
export const receiveInbound = (
  context: InboundContext,
  entries: readonly InboundEntry[],
): Promise<InboundRow[]> =>
  context.db.transaction((connection) => receiveIn(context, connection, entries, []))

/** Gives up waiting for the missing parts of old messages; returns how many sets were looked at. */
export async function giveUpParts(context: InboundContext, limit = 200): Promise<number> {
  const before = new Date(context.clock.now().getTime() - partPatienceMs)
  const old = await findOldParts(context.db, before, limit)
  if (old.length > 0) await context.db.transaction((connection) => receiveIn(context, connection, [], old))
  return old.length
}

/** Somebody who holds a contact for longer than this has to be waited for elsewhere: the batch runs again. */
const lockTimeoutMs = 5_000

async function receiveIn(
  { clock, onReceived }: InboundContext,
  connection: Queryable,
  entries: readonly InboundEntry[],
  oldParts: readonly PartKey[],
): Promise<InboundRow[]> {
  const now = clock.now()
  await connection.query(`select set_config('lock_timeout', '${lockTimeoutMs}', true)`)
  const lineIds = [...new Set([...entries, ...oldParts].map(({ lineId }) => lineId))]
  const lines = new Map((await loadInboundLines(connection, lineIds)).map((line) => [line.id, line]))
  const known = entries.filter(({ lineId }) => lines.has(lineId))
  const old = await companiesOf(connection, oldParts)
  const contactIds = await findSenders(connection, [...known, ...old])
  const whole = [
    ...known.filter((entry) => !isPart(entry)),
    ...(await joinParts(connection, known.filter(isPart), oldParts, now)),
  ]
  if (whole.length === 0) return []

  const rows = whole.map((entry): InboundRow => {
    const { message, lineId, companyId, receivedAt } = entry
    const contactId = contactIds.get(senderKey(entry)) ?? null
    const line = lines.get(lineId)!
    const words = stopWordsOf({ stop: line.stopWords, start: line.startWords })
    return {
      id: newId(),
      company_id: companyId,
      line_id: lineId,
      contact_id: contactId,
      provider_id: message.providerId,
      sender: message.from ?? null,
      user_id: message.userId ?? null,
      kind: message.kind,
      text: message.text,
      replies_to: message.repliesTo ?? null,
      profile_name: message.profileName ?? null,
      effect: line.channel === 'sms' && contactId ? (readStopWord(message.text, words) ?? null) : null,
      at: message.at,
      received_at: receivedAt,
    }
  })
  const stored = await insertInbound(connection, rows)
  const fresh = rows.filter((row) => stored.has(row.id))
  if (fresh.length === 0) return []
  const isWhatsapp = (row: InboundRow) => lines.get(row.line_id)!.channel === 'whatsapp'
  const effects = effectsOf(fresh, isWhatsapp, now)
  for (const [index, row] of rows.entries())
    if (stored.has(row.id)) effects.media.push(...mediaOf(row, whole[index]!, now))
  await writeInboundEffects(connection, effects, now)
  await onReceived?.(connection, fresh)
  return fresh
}

type Sender = Pick<InboundEntry, 'companyId'> & { message: Pick<InboundEntry['message'], 'from' | 'userId'> }

const senderKey = ({ companyId, message: { from, userId } }: Sender): string =>
  `${companyId} ${from ?? ''} ${from === undefined ? (userId ?? '') : ''}`

/** Parts that are given up waiting for know their sender; their company is that of the line. */
async function companiesOf(connection: Queryable, parts: readonly PartKey[]): Promise<InboundEntry[]> {
  if (parts.length === 0) return []
  const rows = await connection.query<{ id: string; companyId: string }>(
    'select id, company_id as "companyId" from line where id = any($1::uuid[])',
    [parts.map((part) => part.lineId)],
  )
  const companies = new Map(rows.map((row) => [row.id, row.companyId]))
  return parts.map(({ lineId, sender }) => ({
    lineId,
    companyId: companies.get(lineId)!,
    receivedAt: new Date(0),
    message: { providerId: '', from: sender, text: '', at: new Date(0), media: [], kind: 'text' },
  }))
}

/** The contact of each sender, locked; one who is new is created. Nobody for a number that is none (a short code). */
async function findSenders(
  connection: Queryable,
  entries: readonly InboundEntry[],
): Promise<Map<string, string>> {
  const senders = new Map<string, { entry: InboundEntry; phone: Phone | undefined }>()
  for (const entry of entries) {
    const reading = entry.message.from === undefined ? undefined : readDigits(entry.message.from)
    senders.set(senderKey(entry), { entry, phone: reading?.ok ? reading.phone : undefined })
  }
  const probes = [...senders].flatMap(([key, { entry, phone }], ref) => ({
    key,
    ref,
    company_id: entry.companyId,
    phone_key: phone?.key ?? null,
    user_id: entry.message.userId ?? null,
    phone,
    name: entry.message.profileName ?? null,
  }))
  const found = await lockSenders(connection, probes)
  const contactIds = new Map<string, string>()
  const absent = new Map<string, NewSender>()
  for (const { key, ref, company_id: companyId, phone, name } of probes) {
    const id = found.get(ref)
    if (id !== undefined) contactIds.set(key, id)
    else if (phone !== undefined)
      absent.set(`${companyId} ${phone.key}`, {
        id: newId(),
        company_id: companyId,
        phone: phone.e164,
        phone_key: phone.key,
        name,
      })
  }
  if (absent.size === 0) return contactIds
  const created = await createSenders(connection, [...absent.values()])
  for (const { key, company_id: companyId, phone } of probes) {
    const id = phone && created.get(`${companyId} ${phone.key}`)
    if (id !== undefined) contactIds.set(key, id)
  }
  return contactIds
}

const earlier = (a: Date, b: Date): Date => (a < b ? a : b)
const later = (a: Date | undefined, b: Date): Date => (a === undefined || a < b ? b : a)

/** A provider's clock that is ahead of ours opens no window into the future. */
function effectsOf(
  rows: readonly InboundRow[],
  opensWindow: (row: InboundRow) => boolean,
  now: Date,
): InboundEffects {
  const contacts = new Map<string, InboundEffects['contacts'][number]>()
  const windows = new Map<string, InboundEffects['windows'][number]>()
  const userIds = new Map<string, InboundEffects['userIds'][number]>()
  for (const row of rows) {
    const { contact_id: contactId, company_id: companyId, line_id: lineId, user_id: userId } = row
    if (contactId === null) continue
    const at = earlier(row.at, now)
    const contact = contacts.get(contactId)
    contacts.set(contactId, {
      id: contactId,
      at: later(contact?.at, at),
      effect: row.effect ?? contact?.effect ?? null,
    })
    if (opensWindow(row)) {
      const key = `${contactId} ${lineId}`
      windows.set(key, { contact_id: contactId, line_id: lineId, at: later(windows.get(key)?.at, at) })
    }
    if (userId !== null && row.sender !== null)
      userIds.set(`${companyId} ${userId}`, {
        company_id: companyId,
        user_id: userId,
        contact_id: contactId,
        at: now,
      })
  }
  return {
    contacts: [...contacts.values()],
    windows: [...windows.values()],
    userIds: [...userIds.values()],
    media: [],
  }
}

const mediaOf = (row: InboundRow, { message }: InboundEntry, now: Date): InboundEffects['media'] =>
  message.media.map((file, position) => ({
    inbound_id: row.id,
    position,
    company_id: row.company_id,
    line_id: row.line_id,
    provider_media_id: file.providerMediaId,
    mime_type: file.mimeType,
    name: file.name ?? null,
    try_at: now,
  }))

export type MarketingEntry = {
  companyId: string
  from?: string
  userId?: string
  isStop: boolean
  receivedAt: Date
}

/** WhatsApp's own "stop marketing" and "resume": noted on the contact. Returns how many contacts were found. */
export const recordMarketingChoices = (
  { db }: Pick<InboundContext, 'db'>,
  entries: readonly MarketingEntry[],
): Promise<number> =>
  writeMarketingChoices(
    db,
    entries.map(({ companyId, from, userId, isStop, receivedAt }, place) => {
      const reading = from === undefined ? undefined : readDigits(from)
      return {
        place,
        company_id: companyId,
        phone_key: reading?.ok ? reading.phone.key : null,
        user_id: userId ?? null,
        is_stop: isStop,
        at: receivedAt,
      }
    }),
  )
