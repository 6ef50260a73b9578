/** `npm run soak -- --minutes 10 [--rounds N] [--seed S] [--rate N] [--only WORDS]`: exits 0 only when nothing was lost, doubled or false. */
import { parseArgs } from 'node:util'
import { faults, longFaults } from './faults.ts'
import { isGood, showResult, showRound } from './report.ts'
import { runSoak } from './rounds.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    rate: { type: 'string', default: '50' },
    /** Only faults whose name has these words. */
    only: { type: 'string' },
  },
})
const number = (name: 'minutes' | 'rounds' | 'seed' | 'rate', max: number): number => {
  const value = Number(values[name])
  if (!(value > 0 && value <= max)) throw new Error(`--${name} must be a number above 0, at most ${max}.`)
  return value
}

const { only } = values
function wanted(words: string) {
  const found = [...faults, ...longFaults].filter(({ name }) => name.includes(words))
  if (found.length === 0) throw new Error(`No fault has the name "${words}".`)
  return found
}

const print = (text: string) => void process.stdout.write(`${text}\n`)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (!stopping.signal.aborted) print('stopping: everything that was started is ended')
    stopping.abort()
  })

const seed = number('seed', 2 ** 32)
const minutes = number('minutes', 24 * 60)
print(`Soak of ${minutes} minutes, seed ${seed}. Two nodes, one PostgreSQL, both APIs; Ctrl-C stops it.`)
const result = await runSoak({
  seed,
  minutes,
  rounds: number('rounds', 100_000),
  ratePerSecond: number('rate', 1_000),
  ...(only !== undefined && { faults: wanted(only) }),
  stopping: stopping.signal,
  onRound: (round) => print(showRound(round)),
  say: print,
})
if (result === undefined) print('Stopped before the end: nothing was judged.')
else print(showResult(result))
process.exit(result === undefined ? 130 : isGood(result) ? 0 : 1)
