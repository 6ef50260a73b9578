import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { makeCompany } from '../../test/harness/factories.ts'
import { fileHash, readFile, storeFile } from './files.ts'

test('a file comes back byte for byte, whatever its size', async () => {
  const { db } = await testDatabase()
  const company = await makeCompany(db, undefined, { channels: [] })
  for (const size of [0, 1, 256 * 1024, 256 * 1024 + 1, 5 * 1024 * 1024 + 7]) {
    const bytes = randomBytes(size)
    const stored = await storeFile(db, company.id, bytes)
    expect(stored).toEqual({ hash: fileHash(bytes), size })
    expect((await readFile(db, company.id, stored.hash))!.equals(bytes)).toBe(true)
  }
})

test('the same content is stored once per company, also when it comes several times at once', async () => {
  const { db } = await testDatabase()
  const [one, two] = [
    await makeCompany(db, undefined, { channels: [] }),
    await makeCompany(db, undefined, { channels: [] }),
  ]
  const bytes = randomBytes(600_000)
  await Promise.all(Array.from({ length: 6 }, () => storeFile(db, one.id, bytes)))
  const [chunks] = await db.query<{ count: number }>('select count(*) from file_chunk')
  expect(chunks!.count).toBe(3)
  expect(await readFile(db, two.id, fileHash(bytes))).toBeUndefined()
  await db.query(`update file set referenced_at = now() - interval '3 days'`)
  await storeFile(db, one.id, bytes)
  const [file] = await db.query<{ isFresh: boolean }>(
    `select referenced_at > now() - interval '1 minute' as "isFresh" from file`,
  )
  expect(file!.isFresh).toBe(true)
})
