/** Compares what callers were told, what is stored, and what the provider saw. */
import type { Asked } from './ledger.ts'

export type Stored = { id: string; state: string; mark: string | undefined }

export type Evidence = {
  asked: readonly Asked[]
  stored: readonly Stored[]
  /** How often the provider took each message. */
  taken: ReadonlyMap<string, number>
  /** What the provider has reported of each message. */
  reported: ReadonlyMap<string, ReadonlySet<string>>
  /** Messages of which we have taken a final receipt, and said so. */
  acknowledged: ReadonlySet<string>
}

export type Problem =
  /** Accepted, and not to be found. */
  | 'lost'
  /** Accepted, and in no final state. */
  | 'unsettled'
  | 'stored twice'
  /** One key, two ids. */
  | 'told two ids'
  | 'stored without being asked'
  /** Taken by the provider more than once, and nobody was told of a doubt. */
  | 'silent duplicate'
  | 'at the provider, but not stored'
  | 'called sent, but never at the provider'
  | 'called delivered or failed, but never reported so'
  /** We told the provider that we have it. */
  | 'receipt taken and forgotten'
  | 'in a state that nothing explains'

export type Verdict = {
  accepted: number
  /** Stored, but its caller got no answer or 503: the doubt that a key removes. */
  inDoubt: number
  refused: number
  unanswered: number
  states: Record<string, number>
  problems: { kind: Problem; what: string }[]
}

const waiting = new Set(['queued', 'sending'])
const explained = new Set(['sent', 'delivered', 'failed', 'unknown'])

export function judge({ asked, stored, taken, reported, acknowledged }: Evidence): Verdict {
  const problems: Verdict['problems'] = []
  const add = (kind: Problem, what: string) => void problems.push({ kind, what })
  const byId = new Map(stored.map((row) => [row.id, row]))
  const byMark = Map.groupBy(stored, (row) => row.mark ?? '')
  const askedByMark = new Map(asked.map((one) => [one.mark, one]))
  const states: Record<string, number> = {}
  let accepted = 0
  let inDoubt = 0

  for (const one of asked) {
    const told = new Set(one.ids)
    if (told.size > 0) accepted++
    if (told.size > 1) add('told two ids', `${one.mark}: ${[...told].join(', ')}`)
    for (const id of told) if (byId.get(id)?.mark !== one.mark) add('lost', `${one.mark} ${id}`)
    const rows = byMark.get(one.mark) ?? []
    if (rows.length > 1) add('stored twice', `${one.mark}: ${rows.map((row) => row.id).join(', ')}`)
    if (rows.length > 0 && told.size === 0) {
      if (one.unanswered + one.refused > 0) inDoubt++
      else add('stored without being asked', one.mark)
    }
  }
  for (const row of stored) {
    states[row.state] = (states[row.state] ?? 0) + 1
    const mark = row.mark ?? ''
    const name = `${mark} ${row.id} is ${row.state}`
    if (!askedByMark.has(mark)) add('stored without being asked', name)
    if (waiting.has(row.state)) add('unsettled', name)
    else if (!explained.has(row.state)) add('in a state that nothing explains', name)
    const isTaken = taken.has(mark)
    if ((row.state === 'sent' || row.state === 'delivered') && !isTaken)
      add('called sent, but never at the provider', name)
    if (row.state === 'sent' && acknowledged.has(mark)) add('receipt taken and forgotten', name)
    if ((row.state === 'delivered' || row.state === 'failed') && !reported.get(mark)?.has(row.state))
      add('called delivered or failed, but never reported so', name)
  }
  for (const [mark, times] of taken) {
    // The company's policy is to leave what is unknown to a person: nothing may leave twice.
    if (times > 1) add('silent duplicate', `${mark} was taken ${times} times`)
    if (!byMark.has(mark)) add('at the provider, but not stored', mark)
  }
  return {
    accepted,
    inDoubt,
    refused: asked.reduce((sum, one) => sum + one.refused, 0),
    unanswered: asked.reduce((sum, one) => sum + one.unanswered, 0),
    states,
    problems,
  }
}
