/**
 * The decision about one message: does everything it names exist, is every variable filled, and do the contact's
 * state and the company's rules allow it? Pure: facts in, decision out; the batch applies what was decided to its
 * facts before it decides about the next one.
 */
import { nameKey } from '../domain/channel.ts'
import { chooseLine } from '../domain/choose-line.ts'
import type { Contact, OpenAttendance } from '../domain/contact.ts'
import type { Line } from '../domain/line.ts'
import type { MediaFile } from '../domain/media.ts'
import { priorities, type MessageContent } from '../domain/message.ts'
import type { Problem, Verdict } from '../domain/outcome.ts'
import type { SendRequest } from '../domain/send-request.ts'
import type { Template } from '../domain/template.ts'
import { firstAllowedAt, runRules } from '../rules/engine.ts'
import type { RestrictionHit, RuleFacts } from '../rules/facts.ts'
import type { Attendant, Catalogue, NamedSegment } from '../store/catalogue.ts'
import { composeContent, type VariableSource } from './compose-content.ts'
import { contentKey } from './content-key.ts'

/** A contact as the batch sees it: what is stored, changed by what the batch has decided so far. */
export type ContactState = {
  contact: Contact
  isNew: boolean
  /** The call brought data that differ from what is stored. */
  isChanged: boolean
  attendance?: OpenAttendance
  /** Open in the table, but idle too long to count: closed when another is opened. */
  idleAttendanceId?: string
  /** When the person last wrote to each line. */
  windows: ReadonlyMap<string, Date>
  counters: Map<string, { count: number; at: Date }>
}

export type DecisionFacts = {
  catalogue: Catalogue
  isSuspended: boolean
  state: ContactState
  restrictionHits: readonly RestrictionHit[]
  media: ReadonlyMap<string, MediaFile>
  now: Date
  random(): number
}

/** What an accepted or refused message is recorded with. */
export type MessageFacts = {
  line?: Line
  isPinned: boolean
  templateId?: string
  segmentId: string | null
  content: MessageContent
  priority: number
  dueAt: Date
  isDeferred: boolean
  expiresAt: Date
}

export type Decision =
  | { kind: 'suspended' }
  | { kind: 'invalid'; problems: Problem[]; verdicts: Verdict[] }
  | { kind: 'refused'; verdicts: Verdict[]; facts: MessageFacts }
  | { kind: 'not_sent'; verdicts: Verdict[]; facts: MessageFacts }
  | {
      kind: 'accepted'
      verdicts: Verdict[]
      facts: MessageFacts
      attendant?: Attendant
      ruleFacts: RuleFacts
    }

const hourMs = 3_600_000
const windowMs = 24 * hourMs
const expiryMs = { verification: 10 * 60_000, other: 24 * hourMs }

export function decideMessage(request: SendRequest, facts: DecisionFacts): Decision {
  // Rule D1 comes before anything that the request names is looked up.
  if (request.attendantName !== undefined && request.isDiscardedInAttendance) {
    const verdicts = [attendanceVerdict(false)]
    return { kind: 'refused', verdicts, facts: undecidedFacts(request, facts) }
  }
  if (facts.isSuspended) return { kind: 'suspended' }

  const { catalogue, state, now } = facts
  const problems: Problem[] = []
  const attendant = findAttendant(request, catalogue, problems)
  const segmentId = findSegment(request, facts, problems)
  const composed = composeContent(request, facts, variableSource(request, facts, attendant, segmentId))
  if (!composed.ok) problems.push(...composed.problems)

  const isFreeWhatsapp = request.channel === 'whatsapp' && request.what.kind === 'text'
  const isWindowOpen = (lineId: string) => {
    const receivedAt = state.windows.get(lineId)
    return receivedAt !== undefined && now.getTime() - receivedAt.getTime() < windowMs
  }
  const chosen = chooseLine(request.line, {
    channel: request.channel,
    lines: catalogue.lines,
    segmentId,
    hasOpenWindow: isFreeWhatsapp ? isWindowOpen : undefined,
    random: facts.random,
  })
  const hasNoService = chosen.kind === 'none' && request.api === 'direct'
  if (chosen.kind !== 'line' && !hasNoService) problems.push({ at: 'line', message: chosen.message })
  if (!composed.ok || problems.length > 0) return { kind: 'invalid', problems, verdicts: [] }

  const line = chosen.kind === 'line' ? chosen.line : undefined
  const verdicts = stateVerdicts(request, facts, isFreeWhatsapp ? line && isWindowOpen(line.id) : undefined)
  const ruleFacts = createRuleFacts(request, facts, segmentId, composed.content, composed.template)
  verdicts.push(...runRules(catalogue.rules, ruleFacts))

  const failed = verdicts.filter((verdict) => !verdict.passed)
  const isVerification = composed.template?.kind === 'verification'
  let dueAt = now
  const isDeferred = failed.length > 0 && failed.every((verdict) => verdict.action === 'defer')
  if (isDeferred) dueAt = firstAllowedAt(catalogue.rules, ruleFacts) ?? now
  const messageFacts: MessageFacts = {
    line,
    isPinned: chosen.kind === 'line' && chosen.isPinned,
    templateId: composed.template?.id,
    segmentId,
    content: composed.content,
    priority:
      dueAt > now ? priorities.deferred : isVerification ? priorities.verification : priorities.single,
    dueAt,
    isDeferred: dueAt > now,
    expiresAt: new Date(dueAt.getTime() + (isVerification ? expiryMs.verification : expiryMs.other)),
  }
  if (failed.some((verdict) => verdict.action !== 'defer'))
    return { kind: 'refused', verdicts, facts: messageFacts }
  if (hasNoService) return { kind: 'not_sent', verdicts, facts: messageFacts }
  return { kind: 'accepted', verdicts, facts: messageFacts, attendant, ruleFacts }
}

function findAttendant(
  request: SendRequest,
  catalogue: Catalogue,
  problems: Problem[],
): Attendant | undefined {
  if (request.attendantName === undefined) return undefined
  const attendant = catalogue.attendantsByName.get(nameKey(request.attendantName))
  if (attendant === undefined)
    problems.push({ at: 'attendant', message: 'there is no user of this name that may attend' })
  return attendant
}

/** Direct: the segment named. Unified: the wallet named, else the contact's own. */
function findSegment(
  request: SendRequest,
  { catalogue, state }: DecisionFacts,
  problems: Problem[],
): string | null {
  if (request.segmentName === undefined && request.contact.walletCode === undefined)
    return request.api === 'unified' ? state.contact.segmentId : null
  const segment = namedSegment(request, catalogue)
  if (segment === undefined)
    problems.push(
      request.segmentName === undefined
        ? { at: 'wallet', message: 'there is no segment with this client code' }
        : { at: 'segment', message: 'there is no segment of this name' },
    )
  return segment?.id ?? null
}

/** The segment that the call names, if there is such a one. */
export function namedSegment(
  { segmentName, contact: { walletCode } }: SendRequest,
  { segmentsByName, segmentsByCode }: Catalogue,
): NamedSegment | undefined {
  if (segmentName !== undefined) return segmentsByName.get(nameKey(segmentName))
  return walletCode === undefined ? undefined : segmentsByCode.get(nameKey(walletCode))
}

/** The data of the call over what is stored: fills the variables of this very message. */
function variableSource(
  request: SendRequest,
  { catalogue, state }: DecisionFacts,
  attendant: Attendant | undefined,
  segmentId: string | null,
): VariableSource {
  const { contact: given } = request
  const stored = state.contact
  const attendantOpen = state.attendance && catalogue.attendantsById.get(state.attendance.userId)
  const walletId = segmentId ?? stored.segmentId
  return {
    contact: {
      name: given.name ?? stored.name,
      phone: stored.phone,
      email: stored.email,
      taxId: given.taxId ?? request.documentNumber ?? stored.taxId,
      customCode: given.customCode ?? stored.customCode,
      tag: given.tag ?? stored.tag,
      walletName: (walletId && catalogue.segmentsById.get(walletId)?.name) ?? null,
      jokers: mergeJokers(stored.jokers, given.jokers),
    },
    context: {
      attendantName: (attendant ?? attendantOpen)?.name ?? null,
      companyName: catalogue.companyName,
    },
  }
}

/** Position by position: what is not given keeps what is stored. */
export function mergeJokers(
  stored: readonly (string | null)[],
  given: readonly (string | null)[] = [],
): readonly (string | null)[] {
  if (given.length === 0) return stored
  if (given.length >= stored.length && !given.includes(null)) return given
  const merged: (string | null)[] = []
  for (let index = 0; index < given.length || index < stored.length; index++)
    merged.push(given[index] ?? stored[index] ?? null)
  return merged
}

const attendanceVerdict = (passed: boolean): Verdict =>
  passed
    ? { rule: 'attendance', passed }
    : { rule: 'attendance', passed, action: 'block', reason: 'contact in attendance' }

function stateVerdicts(
  request: SendRequest,
  { state, now }: DecisionFacts,
  isWindowOpen: boolean | undefined,
): Verdict[] {
  const verdicts: Verdict[] = []
  if (request.isDiscardedInAttendance) verdicts.push(attendanceVerdict(state.attendance === undefined))
  if (request.recentContactLastHours > 0) {
    const last = state.contact.lastInteractionAt
    const allowedAt = last && new Date(last.getTime() + request.recentContactLastHours * hourMs)
    const passed = !allowedAt || allowedAt <= now
    verdicts.push({
      rule: 'recent_contact',
      passed,
      ...(!passed && { action: 'block', reason: 'contact recently contacted', nextAllowedAt: allowedAt }),
    })
  }
  if (isWindowOpen !== undefined)
    verdicts.push({
      rule: 'window',
      passed: isWindowOpen,
      ...(!isWindowOpen && { action: 'block' as const, reason: '24-hour window closed' }),
    })
  return verdicts
}

function createRuleFacts(
  request: SendRequest,
  { catalogue, state, restrictionHits, now }: DecisionFacts,
  segmentId: string | null,
  content: MessageContent,
  template: Template | undefined,
): RuleFacts {
  let hash: string | undefined
  return {
    now,
    api: request.api,
    channel: request.channel,
    segmentId,
    timeZone: catalogue.timeZone,
    optedOutChannels: state.contact.optedOutChannels,
    isMarketingOptedOut: state.contact.marketingOptedOutAt !== null,
    emailBouncedAt: state.contact.emailBouncedAt,
    template,
    restrictionHits,
    counter: (key) => state.counters.get(key),
    // Hashed only when a duplicate rule asks: most companies have none.
    contentKey: () =>
      (hash ??= contentKey(request.channel, recipientKey(request), template?.id ?? null, content)),
  }
}

export const recipientKey = ({ recipient }: SendRequest): string =>
  recipient.kind === 'phone' ? recipient.phone.key : recipient.email.key

/** For a refusal that came before the template and the line were looked at. */
const undecidedFacts = (request: SendRequest, { now }: DecisionFacts): MessageFacts => ({
  isPinned: false,
  segmentId: null,
  content: { kind: 'text', text: request.what.kind === 'text' ? request.what.text : '', files: [] },
  priority: priorities.single,
  dueAt: now,
  isDeferred: false,
  expiresAt: now,
})
