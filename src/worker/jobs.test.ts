import { expect, test } from 'vitest'
import { silentLog } from '../lib/log.ts'
import { runJobs } from './jobs.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a job with an endless backlog ends with the process', async () => {
  let bites = 0
  const started = Promise.withResolvers<void>()
  const jobs = runJobs(
    [
      {
        name: 'endless',
        everyMs: 1,
        async run(stopping) {
          while (!stopping.aborted) {
            bites++
            started.resolve()
            await turn()
          }
        },
      },
    ],
    silentLog,
  )
  await started.promise
  await jobs.close()
  const atTheEnd = bites
  await turn()
  expect(bites).toBe(atTheEnd)
})

test('a job that fails comes round again, and is never at work twice', async () => {
  let turns = 0
  let atWork = 0
  let most = 0
  const enough = Promise.withResolvers<void>()
  const jobs = runJobs(
    [
      {
        name: 'failing',
        everyMs: 1,
        async run() {
          most = Math.max(most, ++atWork)
          await turn()
          atWork--
          if (++turns === 3) enough.resolve()
          throw new Error('as told')
        },
      },
    ],
    silentLog,
  )
  await enough.promise
  await jobs.close()
  expect(most).toBe(1)
})
