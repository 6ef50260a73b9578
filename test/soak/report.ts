/** What a person reads: a line per round, and at the end what was done and what came of it. */
import type { Round, SoakResult } from './rounds.ts'

export function showRound(round: Round): string {
  const { delivered = 0, sent = 0, unknown = 0, queued = 0 } = round.states
  const what = round.note === undefined ? round.fault : `${round.fault} (${round.note})`
  return (
    `${String(round.number).padStart(3)}  ${what.padEnd(66)} took ${seconds(round.tookMs)} s, well again after ${seconds(round.recoveryMs)} s` +
    `   accepted ${round.accepted}, delivered ${delivered}, sent ${sent}, waiting ${queued}, unknown ${unknown}`
  )
}

const seconds = (ms: number) => (ms / 1000).toFixed(1).padStart(4)

/** Of one kind of trouble so many examples are shown. */
const examples = 5

const count = (result: SoakResult, ...kinds: string[]) =>
  result.problems.filter((problem) => kinds.includes(problem.kind)).length

export const isGood = (result: SoakResult): boolean =>
  result.problems.length === 0 && result.falseAnswers.length === 0 && result.complaints.length === 0

export function showResult(result: SoakResult): string {
  const state = (name: string) => result.states[name] ?? 0
  const doubles = count(result, 'silent duplicate', 'stored twice', 'told two ids')
  const rows: [string, number][] = [
    ['accepted (ids told)', result.accepted],
    ['delivered', state('delivered')],
    ['sent, no receipt', state('sent')],
    ['failed by receipt', state('failed')],
    ['unknown', state('unknown')],
    ['stored, but the caller got no answer or 503', result.inDoubt],
    ['requests answered 503', result.refused],
    ['requests without an answer', result.unanswered],
    ['seconds that the longest answer took', Math.round(result.longestMs / 1000)],
    ['callbacks received', result.callbacks],
    ['lost', count(result, 'lost')],
    ['in no final state', count(result, 'unsettled')],
    ['silent duplicates', doubles],
    ['false answers', result.falseAnswers.length],
    ['other contradictions', result.problems.length - count(result, 'lost', 'unsettled') - doubles],
    ['complaints', result.complaints.length],
  ]
  const faults = Object.entries(result.done).toSorted(([one], [other]) => one.localeCompare(other))
  return [
    '',
    `What was killed and cut, in ${result.rounds} rounds:`,
    ...faults.map(([name, times]) => `${String(times).padStart(8)}  ${name}`),
    '',
    'What came of it:',
    ...rows.map(([name, number]) => `${String(number).padStart(8)}  ${name}`),
    ...troubles(result),
    '',
    isGood(result) ? 'Nothing was lost, nothing was doubled, nobody was told anything false.' : 'FAILED',
  ].join('\n')
}

function troubles(result: SoakResult): string[] {
  const lines: string[] = []
  for (const [kind, problems] of Map.groupBy(result.problems, (problem) => problem.kind))
    lines.push('', `${kind}:`, ...problems.slice(0, examples).map(({ what }) => `  ${what}`))
  if (result.falseAnswers.length > 0)
    lines.push('', 'false answers:', ...result.falseAnswers.slice(0, examples).map((text) => `  ${text}`))
  if (result.complaints.length > 0)
    lines.push('', 'complaints:', ...result.complaints.map((text) => `  ${text}`))
  return lines
}
