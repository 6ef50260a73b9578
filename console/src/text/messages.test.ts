/** A check, an event or an error that the server knows and the console has no words for would be shown as nothing. */
import { expect, test } from 'vitest'
import { verdictKinds } from '../../../src/domain/outcome.ts'
import { states } from '../../../src/domain/message.ts'
import { driverErrorPolicies } from '../../../src/drivers/errors.ts'
import { timelineKinds, waitingReasons } from '../../../src/store/timeline.ts'
import { text } from './index.ts'

const keys = (words: object) => Object.keys(words).toSorted()

test('every kind of verdict is explained, with what can be done about it', () => {
  expect(keys(text.verdicts)).toEqual([...verdictKinds].toSorted())
  for (const words of Object.values(text.verdicts))
    for (const sentence of [words.passed, words.failed, words.advice])
      expect(sentence).toMatch(/^[A-Z].{10,}\.$/)
})

test('everything that a timeline can tell has its words', () => {
  expect(keys(text.timeline.events)).toEqual([...timelineKinds].toSorted())
  expect(keys(text.timeline.waits)).toEqual([...waitingReasons].toSorted())
  expect(keys(text.timeline.errors)).toEqual(keys(driverErrorPolicies))
  expect(keys(text.common.states)).toEqual([...states].toSorted())
})
