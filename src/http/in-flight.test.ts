import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createInFlight } from './in-flight.ts'

const response = () => ({}) as ServerResponse

test('has what was added and not removed, in whatever order they go', () => {
  const inFlight = createInFlight()
  const [first, second, third] = [response(), response(), response()]
  for (const one of [first, second, third]) inFlight.add(one)
  inFlight.remove(first)
  expect(new Set(inFlight.all)).toEqual(new Set([second, third]))
  inFlight.remove(third)
  expect(inFlight.all).toEqual([second])
  inFlight.add(first)
  inFlight.remove(second)
  inFlight.remove(first)
  expect(inFlight.all).toEqual([])
})
