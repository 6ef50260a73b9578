/** The soak in small: `npm run soak -- --minutes 10` does the same for longer. */
import { expect, test } from 'vitest'
import { faults } from '../soak/faults.ts'
import { isGood, showResult } from '../soak/report.ts'
import { runSoak } from '../soak/rounds.ts'

/** Of each kind the one that hurts most; a whole deck takes minutes. */
const wanted = [
  'kill -9 everything at once',
  'kill -9 PostgreSQL',
  'kill -9 the worker',
  'kill -9 all serving processes of a node',
  'kill -9 the supervisor of the node with the database',
  'PostgreSQL stands still for some seconds',
  'no database connections left',
  'clock of a node jumps',
  'provider hangs',
  'provider resets',
  'provider answers garbage',
  'provider throttles',
  'provider lies',
  'callback receiver hangs',
]

test('two nodes under load, killed, cut off and lied to: nothing lost, nothing doubled, nobody told anything false', async () => {
  const chosen = faults.filter(({ name }) => wanted.includes(name))
  expect(chosen).toHaveLength(wanted.length)
  const result = (await runSoak({
    seed: Math.floor(Math.random() * 1_000_000),
    minutes: 10,
    rounds: chosen.length,
    ratePerSecond: 30,
    pace: 0.5,
    faults: chosen,
    stopping: new AbortController().signal,
    onRound: () => {},
    say: () => {},
  }))!
  expect(isGood(result), showResult(result)).toBe(true)
  expect(Object.keys(result.done).toSorted()).toEqual(wanted.toSorted())
  expect(result.states['delivered']).toBeGreaterThan(0)
  // Killed under load, so some hand-overs must have been caught in the middle: else nothing was tried.
  expect(result.states['unknown'] ?? 0).toBeGreaterThan(0)
}, 400_000)
