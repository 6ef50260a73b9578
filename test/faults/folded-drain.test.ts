import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../harness/database.ts'
import { until } from '../harness/http.ts'
import { startProgram } from '../harness/program.ts'

test('a caller who never finishes its upload does not keep a folded process from handing its lanes back', async () => {
  const { db, url } = await testDatabase()
  const program = await startProgram({
    env: { DATABASE_URL: url, POMBO_FOLD_PROCESSES: 'true', POMBO_DRAIN_SECONDS: '4' },
  })
  onTestFinished(async () => void (await program.stop()))
  const owned = () => db.query('select 1 from lane where owner_id is not null')
  await until('lanes are driven', async () => (await owned()).length > 0)
  const slow = connect(program.port, '127.0.0.1')
  onTestFinished(() => void slow.destroy())
  slow.on('error', () => {})
  await once(slow, 'connect')
  slow.write(
    'POST /v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  await program.stop()
  expect(await owned()).toEqual([])
  expect(await db.query('select 1 from worker')).toEqual([])
})
