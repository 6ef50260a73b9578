/** A judge that cannot say no is none: each kind of trouble, alone, must be seen. */
import { expect, test } from 'vitest'
import { judge, type Evidence, type Problem } from './judge.ts'
import type { Asked } from './ledger.ts'

const asked = (changes: Partial<Asked> = {}): Asked => ({
  mark: 'm0000001x',
  isKeyed: false,
  ids: ['a'],
  unanswered: 0,
  refused: 0,
  ...changes,
})

const well: Evidence = {
  asked: [asked()],
  stored: [{ id: 'a', state: 'delivered', mark: 'm0000001x' }],
  taken: new Map([['m0000001x', 1]]),
  reported: new Map([['m0000001x', new Set(['delivered'])]]),
  acknowledged: new Set(['m0000001x']),
}
const row = (state: string, id = 'a', mark = 'm0000001x') => ({ id, state, mark })

test('nothing wrong', () => {
  expect(judge(well)).toEqual({
    accepted: 1,
    inDoubt: 0,
    refused: 0,
    unanswered: 0,
    states: { delivered: 1 },
    problems: [],
  })
})

test('unknown is an honest end, whether the provider has it or not', () => {
  expect(judge({ ...well, stored: [row('unknown')] }).problems).toEqual([])
  expect(judge({ ...well, stored: [row('unknown')], taken: new Map() }).problems).toEqual([])
})

test('stored without an answer is a doubt, and no more than that', () => {
  const doubt = judge({ ...well, asked: [asked({ ids: [], unanswered: 1 })] })
  expect(doubt).toMatchObject({ accepted: 0, inDoubt: 1, problems: [] })
})

test.for<[Problem, Partial<Evidence>]>([
  ['lost', { stored: [], taken: new Map() }],
  [
    'lost',
    {
      stored: [row('delivered'), row('unknown', 'b', 'm0000002x')],
      asked: [asked(), asked({ mark: 'm0000002x', ids: ['a'] })],
    },
  ],
  ['unsettled', { stored: [row('queued')] }],
  ['unsettled', { stored: [row('sending')] }],
  ['stored twice', { stored: [row('delivered'), row('delivered', 'b')] }],
  [
    'told two ids',
    { asked: [asked({ ids: ['a', 'b'] })], stored: [row('delivered'), row('delivered', 'b')] },
  ],
  ['stored without being asked', { stored: [row('delivered'), row('unknown', 'b', 'm0000009x')] }],
  ['stored without being asked', { asked: [asked({ ids: [] })] }],
  ['silent duplicate', { taken: new Map([['m0000001x', 2]]) }],
  ['silent duplicate', { taken: new Map([['m0000001x', 2]]), stored: [row('unknown')] }],
  [
    'at the provider, but not stored',
    {
      taken: new Map([
        ['m0000001x', 1],
        ['m0000007x', 1],
      ]),
    },
  ],
  ['called sent, but never at the provider', { stored: [row('sent')], taken: new Map() }],
  ['called delivered or failed, but never reported so', { reported: new Map() }],
  ['called delivered or failed, but never reported so', { stored: [row('failed')] }],
  ['receipt taken and forgotten', { stored: [row('sent')] }],
  ['in a state that nothing explains', { stored: [row('expired')] }],
  ['in a state that nothing explains', { stored: [row('blocked')] }],
])('%s', ([kind, changes]) => {
  expect(judge({ ...well, ...changes }).problems.map((problem) => problem.kind)).toContain(kind)
})
