/** What a batch has to ask the database for: each contact, key, token, company and media item once. */
import type { Recipient, SendRequest } from '../domain/send-request.ts'
import { mayCount } from '../rules/engine.ts'
import type { RestrictionHit } from '../rules/facts.ts'
import type { ContactNeeds, ContactProbe, ContactRow, KeyProbe } from '../store/accepting.ts'
import type { Catalogue, Catalogues } from '../store/catalogue.ts'
import type { Queryable } from '../store/db.ts'
import { findRestrictionHits } from '../store/restrictions.ts'
import type { Entry } from './accept-entry.ts'
import { findTemplate, mediaIdsOf } from './compose-content.ts'
import { namedSegment } from './decide-message.ts'

/** Each contact, key, token, company and media item of the batch once. */
export function planBatch(entries: readonly Entry[]) {
  const contacts: ContactProbe[] = []
  const keys: KeyProbe[] = []
  const contactRefs: number[] = []
  const keyRefs: (number | undefined)[] = []
  const refByContact = new Map<string, number>()
  const refByKey = new Map<string, number>()
  const companyIds = new Set<string>()
  const apiTokens = new Set<string>()
  const directTokens = new Set<string>()
  const media: { company_id: string; id: string }[] = []
  for (const { submission } of entries) {
    const { sender, request, idempotency } = submission
    companyIds.add(sender.companyId)
    if (sender.kind !== 'console_user')
      (sender.kind === 'api_user' ? apiTokens : directTokens).add(sender.tokenHash)
    const probe = contactProbe(contacts.length, sender.companyId, request.recipient)
    const contactKey = `${sender.companyId} ${probe.phone_key ?? probe.email_key}`
    const known = refByContact.get(contactKey)
    if (known === undefined) {
      refByContact.set(contactKey, contacts.length)
      contacts.push(probe)
    }
    contactRefs.push(known ?? probe.ref)
    keyRefs.push(idempotency && keyRef(idempotency, sender.companyId))
    for (const id of mediaIdsOf(request)) media.push({ company_id: sender.companyId, id })
  }
  return {
    contacts,
    keys,
    contactRefs,
    keyRefs,
    companyIds: [...companyIds],
    apiTokenHashes: [...apiTokens],
    directTokenHashes: [...directTokens],
    media,
  }

  function keyRef({ route, key }: { route: string; key: string }, companyId: string): number {
    const full = `${companyId} ${route} ${key}`
    const known = refByKey.get(full)
    if (known !== undefined) return known
    const ref = keys.length
    refByKey.set(full, ref)
    keys.push({ ref, company_id: companyId, route, key })
    return ref
  }
}

/** What the decisions will ask about the contacts of a batch. */
export function contactNeeds(entries: readonly Entry[], catalogues: Catalogues): ContactNeeds {
  const needs = { hasWindows: false, hasAttendances: false, hasCounters: false }
  for (const { submission } of entries) {
    const { request, sender } = submission
    const catalogue = catalogues.get(sender.companyId)
    needs.hasWindows ||= request.channel === 'whatsapp' && request.what.kind === 'text'
    needs.hasAttendances ||= needsAttendance(request, catalogue)
    needs.hasCounters ||=
      catalogue !== undefined &&
      mayCount(catalogue.rules, request.api, request.channel, namedSegment(request, catalogue)?.id)
  }
  return needs
}

/** To be bound, to be respected, or to be named in a text. */
const needsAttendance = (request: SendRequest, catalogue: Catalogue | undefined): boolean =>
  request.attendantName !== undefined ||
  request.isDiscardedInAttendance ||
  request.subject !== undefined ||
  request.what.kind === 'text' ||
  (catalogue !== undefined && (findTemplate(request.what, catalogue)?.mayNameAttendant ?? false))

export const contactProbe = (ref: number, companyId: string, recipient: Recipient): ContactProbe => ({
  ref,
  company_id: companyId,
  phone_key: recipient.kind === 'phone' ? recipient.phone.key : null,
  email_key: recipient.kind === 'email' ? recipient.email.key : null,
})

/** Asked only of companies that have lists at all. */
export function findHits(
  db: Queryable,
  catalogues: Catalogues,
  entries: readonly Entry[],
  now: Date,
  contactOf: (index: number) => ContactRow | undefined,
): Promise<Map<number, RestrictionHit[]>> {
  const probes = entries.flatMap(({ submission: { sender, request } }, ref) => {
    const lists = catalogues.get(sender.companyId)?.lists ?? []
    if (lists.length === 0) return []
    const { recipient } = request
    return {
      ref,
      lists,
      phone: recipient.kind === 'phone' ? recipient.phone.key : undefined,
      email: recipient.kind === 'email' ? recipient.email.key : undefined,
      // The tax identifier is the document number of the other API: given with the call, else as stored.
      document: request.documentNumber ?? request.contact.taxId ?? contactOf(ref)?.tax_id ?? undefined,
      contract: request.contractCode,
    }
  })
  return probes.length === 0 ? Promise.resolve(new Map()) : findRestrictionHits(db, probes, now)
}
