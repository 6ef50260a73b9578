/** Parts of a longer SMS become one message when all are there, or when the rest has not come in time. */
import type { InboundMessage } from '../drivers/driver.ts'
import type { Queryable } from '../store/db.ts'
import { lockParts, writeParts, type PartKey, type StoredPart } from '../store/inbound-parts.ts'

export type InboundEntry = { lineId: string; companyId: string; message: InboundMessage; receivedAt: Date }

/** Parts travel together, within seconds; phones that were switched off may take minutes. */
export const partPatienceMs = 15 * 60_000

const gap = ' […] '

export const isPart = ({ message: { part } }: InboundEntry): boolean =>
  part !== undefined && part.total > 1 && part.number >= 1 && part.number <= part.total && part.total <= 255

const senderOf = ({ from, userId }: InboundMessage): string => from ?? userId ?? ''

const keyText = (key: PartKey) => `${key.lineId} ${key.reference} ${key.total} ${key.sender}`

/**
 * Stores the parts and returns the messages that are whole now. `old` sets are given up waiting for. A part that is
 * there already is a repetition; with another text it belongs to the next message with the same reference (there
 * are only 256), so what was there before is as whole as it will ever be.
 */
export async function joinParts(
  connection: Queryable,
  entries: readonly InboundEntry[],
  old: readonly PartKey[],
  now: Date,
): Promise<InboundEntry[]> {
  if (entries.length === 0 && old.length === 0) return []
  const keys = new Map<string, PartKey>()
  for (const key of [...entries.map(keyOf), ...old]) keys.set(keyText(key), key)
  const stored = Map.groupBy(await lockParts(connection, [...keys.values()]), keyText)
  const sets = new Map<string, StoredPart[]>(stored)
  const whole: InboundEntry[] = []

  for (const key of old) {
    const set = sets.get(keyText(key)) ?? []
    // Looked for without a lock: parts that came in the meantime start a new wait.
    const isOld = set.every((part) => part.receivedAt.getTime() <= now.getTime() - partPatienceMs)
    if (set.length === 0 || !isOld) continue
    if (set[0]!.joinedAt === null) whole.push(joined(set))
    sets.set(keyText(key), [])
  }
  for (const entry of entries) {
    const part = partOf(entry)
    const name = keyText(part)
    const set = sets.get(name) ?? []
    const same = set.find(({ number }) => number === part.number)
    if (same !== undefined && same.text === part.text) continue
    if (same !== undefined && same.joinedAt === null) whole.push(joined(set))
    const next = same === undefined ? [...set, part] : [part]
    if (next.length === part.total) {
      whole.push(joined(next))
      sets.set(
        name,
        next.map((each) => ({ ...each, joinedAt: now })),
      )
    } else sets.set(name, next)
  }
  await writeParts(connection, [...keys.values()], [...sets.values()].flat())
  return whole
}

const keyOf = ({ lineId, message }: InboundEntry): PartKey => ({
  lineId,
  sender: senderOf(message),
  reference: message.part!.reference,
  total: message.part!.total,
})

const partOf = (entry: InboundEntry): StoredPart => ({
  ...keyOf(entry),
  companyId: entry.companyId,
  number: entry.message.part!.number,
  providerId: entry.message.providerId,
  text: entry.message.text,
  at: entry.message.at,
  receivedAt: entry.receivedAt,
  joinedAt: null,
})

/** Carries the provider's id of its first part; what is missing shows as a gap. */
function joined(set: readonly StoredPart[]): InboundEntry {
  const parts = set.toSorted((a, b) => a.number - b.number)
  const [first] = parts
  let text = ''
  let next = 1
  for (const part of parts) {
    if (part.number > next) text += gap
    text += part.text
    next = part.number + 1
  }
  if (next <= first!.total) text += gap
  return {
    lineId: first!.lineId,
    companyId: first!.companyId,
    receivedAt: parts.reduce(
      (last, { receivedAt }) => (receivedAt > last ? receivedAt : last),
      first!.receivedAt,
    ),
    message: {
      providerId: first!.providerId,
      from: first!.sender,
      text: text.trim(),
      at: parts.reduce((last, { at }) => (at > last ? at : last), first!.at),
      media: [],
      kind: 'text',
    },
  }
}
