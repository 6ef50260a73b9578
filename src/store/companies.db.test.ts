import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { must, testSealer as sealer } from '../../test/harness/factories.ts'
import { hashToken } from '../lib/secrets.ts'
import {
  changeCompany,
  createCompany,
  findCompanyByName,
  readCallbackSecret,
  readPrivateToken,
  rotateCallbackSecret,
  rotatePrivateToken,
  suspendCompany,
} from './companies.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('a company is found by its name whatever the case and surrounding space', async () => {
  const company = must(await createCompany(database.db, sealer, { name: ' Ação Ltda ' }))
  expect(company.name).toBe('Ação Ltda')
  expect((await findCompanyByName(database.db, 'AÇÃO LTDA  '))?.id).toBe(company.id)
})

test('a taken name, an empty one and an unknown time zone are refused by field', async () => {
  must(await createCompany(database.db, sealer, { name: 'Twice' }))
  expect(await createCompany(database.db, sealer, { name: 'TWICE' })).toEqual({
    ok: false,
    problems: [{ field: 'name', message: '"TWICE" is already taken' }],
  })
  const refused = await createCompany(database.db, sealer, { name: ' ', timeZone: 'Mars/Olympus' })
  expect(refused.ok ? [] : refused.problems.map(({ field }) => field)).toEqual(['name', 'timeZone'])
})

test('renaming to a taken name is refused, an unknown company is undefined', async () => {
  const first = must(await createCompany(database.db, sealer, { name: 'Renamed' }))
  must(await createCompany(database.db, sealer, { name: 'Occupied' }))
  expect((await changeCompany(database.db, first.id, { name: 'occupied' }))?.ok).toBe(false)
  const changed = must(await changeCompany(database.db, first.id, { timeZone: 'America/Sao_Paulo' }))
  expect(changed).toMatchObject({ name: 'Renamed', timeZone: 'America/Sao_Paulo' })
  expect(await changeCompany(database.db, '00000000-0000-7000-8000-000000000000', {})).toBeUndefined()
})

test('the private token can be read again, and a rotation keeps the old one good for a while', async () => {
  const company = must(await createCompany(database.db, sealer, { name: 'Rotating' }))
  expect(await readPrivateToken(database.db, sealer, company.id)).toBe(company.privateToken)
  const until = new Date('2031-01-01T00:00:00Z')
  const rotated = await rotatePrivateToken(database.db, sealer, company.id, until)
  expect(rotated).not.toBe(company.privateToken)
  expect(await readPrivateToken(database.db, sealer, company.id)).toBe(rotated)
  const [row] = await database.db.query(
    'select private_token_hash as now, previous_private_token_hash as before, previous_private_token_until as until from company where id = $1',
    [company.id],
  )
  expect(row).toEqual({ now: hashToken(rotated!), before: hashToken(company.privateToken), until })
})

test('the callback secret is one that Standard Webhooks libraries take', async () => {
  const company = must(await createCompany(database.db, sealer, { name: 'Secretive' }))
  const { Webhook } = await import('standardwebhooks')
  expect(() => new Webhook(company.callbackSecret)).not.toThrow()
  expect(Buffer.from(company.callbackSecret.slice('whsec_'.length), 'base64')).toHaveLength(32)
  const rotated = await rotateCallbackSecret(database.db, sealer, company.id)
  expect(await readCallbackSecret(database.db, sealer, company.id)).toBe(rotated)
  expect(rotated).not.toBe(company.callbackSecret)
})

test('nothing of the secrets is readable in the database', async () => {
  const company = must(await createCompany(database.db, sealer, { name: 'Sealed' }))
  const [row] = await database.db.query<{ text: string }>(
    "select encode(private_token_sealed, 'escape') || encode(callback_secret_sealed, 'escape') as text from company where id = $1",
    [company.id],
  )
  expect(row!.text).not.toContain(company.privateToken)
  expect(row!.text).not.toContain(company.callbackSecret.slice(6, 20))
})

test('suspending and resuming', async () => {
  const company = must(await createCompany(database.db, sealer, { name: 'Suspended' }))
  const at = new Date('2030-01-01T00:00:00Z')
  expect((await suspendCompany(database.db, company.id, at))?.suspendedAt).toEqual(at)
  expect((await suspendCompany(database.db, company.id, null))?.suspendedAt).toBeNull()
})
