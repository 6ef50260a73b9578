/** The recipient, the document number or the contract is on a restriction list. */
import type { Check, RestrictionField, RestrictionHit } from './facts.ts'

const fieldNames: Record<RestrictionField, string> = {
  phone: 'phone number',
  email: 'e-mail address',
  document: 'document number',
  contract: 'contract code',
}
const fieldOrder: readonly RestrictionField[] = ['phone', 'email', 'document', 'contract']

export const checkRestrictionList: Check<'restriction_list'> = (settings, facts) => {
  const hits = facts.restrictionHits.filter(
    (hit) => hit.listId === settings.listId && (hit.expiresAt === undefined || hit.expiresAt > facts.now),
  )
  if (hits.length === 0) return undefined
  const fields = fieldOrder.filter((field) => hits.some((hit) => hit.field === field))
  return {
    reason: `${joined(fields)} on the restriction list "${settings.listName}"`,
    matched: hits.toSorted(byFieldAndLength).map(shown).join(', '),
    nextAllowedAt: lastExpiry(hits),
  }
}

function joined(fields: RestrictionField[]): string {
  const names = fields.map((field) => fieldNames[field])
  return names.length === 1 ? `${names[0]} is` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are`
}

/** So that the same hits always read the same, in whatever order the database found them. */
const byFieldAndLength = (a: RestrictionHit, b: RestrictionHit): number =>
  fieldOrder.indexOf(a.field) - fieldOrder.indexOf(b.field) ||
  Number(a.isPrefix) - Number(b.isPrefix) ||
  a.value.length - b.value.length ||
  (a.value < b.value ? -1 : 1)

const shown = (hit: RestrictionHit): string => `${hit.field} ${hit.value}${hit.isPrefix ? '…' : ''}`

/** All entries must be gone; one without expiry stays. */
function lastExpiry(hits: RestrictionHit[]): Date | undefined {
  let last = 0
  for (const hit of hits) {
    if (hit.expiresAt === undefined) return undefined
    last = Math.max(last, hit.expiresAt.getTime())
  }
  return new Date(last)
}
