import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { openSealer, prepareSealer, SealingKeyError } from './sealing.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-sealing-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const keyFile = () => join(dataDir, 'sealing.key')

test('the first start makes a key file for the owner only, and the next ones use it', async () => {
  const { db } = await testDatabase()
  const first = await prepareSealer(db, { sealingKey: undefined, dataDir })
  expect((await stat(keyFile())).mode & 0o777).toBe(0o600)
  expect(await readFile(keyFile(), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  expect(await readdir(dataDir)).toEqual(['sealing.key'])
  const again = await prepareSealer(db, { sealingKey: undefined, dataDir })
  const child = await openSealer(db, { sealingKey: undefined, dataDir })
  const sealed = first.seal('secret')
  expect([again.open(sealed), child.open(sealed)]).toEqual(['secret', 'secret'])
})

test('a key from the environment wins and makes no file', async () => {
  const { db } = await testDatabase()
  const sealingKey = 'ab'.repeat(32)
  await prepareSealer(db, { sealingKey, dataDir })
  expect(await readdir(dataDir)).toEqual([])
  await expect(openSealer(db, { sealingKey: 'cd'.repeat(32), dataDir })).rejects.toThrow(
    'The database was sealed with another key than POMBO_SEALING_KEY',
  )
})

test('another key is refused with a sentence, and nothing is written', async () => {
  const { db } = await testDatabase()
  await prepareSealer(db, { sealingKey: 'ab'.repeat(32), dataDir })
  await expect(prepareSealer(db, { sealingKey: undefined, dataDir })).rejects.toThrow(SealingKeyError)
  await expect(prepareSealer(db, { sealingKey: undefined, dataDir })).rejects.toThrow(
    `copy sealing.key from the node that made it to ${keyFile()}`,
  )
  expect(await readdir(dataDir)).toEqual([])
})

test('a damaged key file is refused by name', async () => {
  const { db } = await testDatabase()
  await writeFile(keyFile(), 'half a ke')
  await expect(prepareSealer(db, { sealingKey: undefined, dataDir })).rejects.toThrow(
    'must hold 64 hexadecimal digits',
  )
})
