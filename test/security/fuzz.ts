/** What the fuzzing tests share: requests by the dozen, and what every answer must be. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc, { type Arbitrary } from 'fast-check'
import { expect } from 'vitest'
import type { OpenApiOperation } from '../../src/http/docs/openapi.ts'
import { request, type Answer } from '../harness/http.ts'
import type { Whole } from '../harness/whole.ts'

/** The short version is part of every run; `POMBO_FUZZ_RUNS=20 POMBO_FUZZ_SEED=7` looks longer and elsewhere. */
const factor = Number(process.env['POMBO_FUZZ_RUNS'] ?? 1)
export const seed = Number(process.env['POMBO_FUZZ_SEED'] ?? 20_260_101)

export const sample = <T>(arbitrary: Arbitrary<T>, runs: number): T[] =>
  fc.sample(arbitrary, { numRuns: Math.ceil(runs * factor), seed })

/** Hundreds of requests on a machine that others use as well. */
export const slow = { timeout: 120_000 * Math.max(1, factor) }

/** Each within the time that a client would wait; anything longer is a hang. */
const timeoutMs = 18_000
const atOnce = 8

export type Shot = {
  /** For the message of a failing test. */
  name: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: Buffer
  operation: Pick<OpenApiOperation, 'responses'>
}

export type Landed = { shot: Shot; answer: Answer }

/** Several at a time, as callers come. */
export async function fire(whole: Pick<Whole, 'url'>, shots: readonly Shot[]): Promise<Landed[]> {
  const landed: Landed[] = []
  const waiting = shots.entries()
  const worker = async () => {
    for (const [, shot] of waiting) {
      const { method, path, headers, body } = shot
      const answer = await request(whole.url + path, { method, headers, body, timeoutMs }).catch(
        (error: unknown) => {
          throw new Error(`${describe(shot)} got no answer: ${String(error)}`)
        },
      )
      landed.push({ shot, answer })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return landed
}

const describe = ({ name, method, path, body }: Shot): string =>
  `${method} ${path.slice(0, 200)} (${name}): ${body?.toString('utf8').slice(0, 300) ?? ''}`

/** Documented, never a fault of ours, and with a body that says what is wrong. */
function expectDocumented({ shot, answer }: Landed): void {
  const label = `${describe(shot)}\n→ ${answer.status} ${answer.text.slice(0, 300)}`
  expect(answer.headers['x-request-id'], label).toMatch(/^req_[0-9a-f]{32}$/)
  expect(Object.keys(shot.operation.responses), label).toContain(String(answer.status))
  if (answer.status >= 500) {
    expect(answer.status, label).toBe(503)
    expect(answer.headers['retry-after'], label).toMatch(/^\d+$/)
  }
  if (answer.status < 400) return
  const schema = shot.operation.responses[answer.status]?.content?.['application/json'].schema
  if (schema === undefined) {
    expect(answer.text, label).toBe('')
    return
  }
  expect(answer.headers['content-type'], label).toBe('application/json; charset=utf-8')
  expect(answer.body['requestId'], label).toBe(answer.headers['x-request-id'])
  expect(answer.body['message'], label).toMatch(/\S/)
  const { properties, required } = schema as { properties: object; required: string[] }
  expect(Object.keys(answer.body), label).toEqual(expect.arrayContaining(required))
  for (const name of Object.keys(answer.body)) expect(Object.keys(properties), label).toContain(name)
  expectErrors(answer.body['errors'] ?? {}, label)
}

function expectErrors(errors: unknown, label: string): void {
  for (const sentences of Object.values(errors as Record<string, unknown>)) {
    expect(Array.isArray(sentences), label).toBe(true)
    for (const sentence of sentences as unknown[]) expect(sentence, label).toMatch(/\S/)
  }
}

/** All that is wrong at once, since one run costs seconds. */
export function expectAllDocumented(landed: readonly Landed[]): void {
  const wrong = landed.flatMap((each) => {
    try {
      expectDocumented(each)
      return []
    } catch (error) {
      return [(error as Error).message]
    }
  })
  expect(wrong.slice(0, 12), `${wrong.length} answers are not as documented`).toEqual([])
}

/** How many of each status, so that a test can tell that it got anywhere. */
export const tally = (landed: readonly Landed[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { answer } of landed) counts[answer.status] = (counts[answer.status] ?? 0) + 1
  return counts
}

/** What the server said about faults of its own. */
export const faultsOf = (whole: Pick<Whole, 'logLines'>): string[] =>
  whole.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)

let gc: (() => void) | undefined

/** Memory that is really in use. */
export function heapBytes(): number {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
