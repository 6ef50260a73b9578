import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { must, testSealer } from '../../test/harness/factories.ts'
import { verifyPassword } from '../lib/secrets.ts'
import { createCompany } from './companies.ts'
import {
  createDirectToken,
  listDirectTokens,
  renewDirectToken,
  revokeDirectToken,
} from './direct-tokens-admin.ts'
import {
  changePassword,
  changeUser,
  createUser,
  disableUser,
  findUserByName,
  killUserToken,
  listUsers,
  type User,
} from './users.ts'

let database: TestDatabase
let companyId: string
let companies = 0
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  companyId = must(await createCompany(database.db, testSealer, { name: `Company ${companies++}` })).id
})

const password = 'correct horse'
const newApiUser = async (name = 'robot') =>
  must(await createUser(database.db, companyId, { name, role: 'api', password }))

const logIn = (user: User) =>
  database.db.query(
    "insert into api_token (user_id, company_id, hash, issued_at, expires_at) values ($1, $2, $3, now(), now() + interval '1 hour')",
    [user.id, companyId, Buffer.from(user.id)],
  )
const livingTokens = async () =>
  (await database.db.query('select 1 from api_token where company_id = $1', [companyId])).length
const storedHash = async (user: User) =>
  (
    await database.db.query<{ hash: string }>('select password_hash as hash from app_user where id = $1', [
      user.id,
    ])
  )[0]!.hash

test('names are unique within a company without regard to case', async () => {
  const user = await newApiUser('Robot')
  expect((await findUserByName(database.db, companyId, ' ROBOT'))?.id).toBe(user.id)
  expect((await createUser(database.db, companyId, { name: 'robot ', role: 'viewer', password })).ok).toBe(
    false,
  )
})

test('a short password is refused under its name', async () => {
  expect(await createUser(database.db, companyId, { name: 'x', role: 'api', password: 'short' })).toEqual({
    ok: false,
    problems: [{ field: 'password', message: 'must have from 8 to 256 characters' }],
  })
})

test('a new password replaces the old one and ends the living token', async () => {
  const user = await newApiUser()
  await logIn(user)
  must(await changePassword(database.db, companyId, user.id, 'another horse'))
  const hash = await storedHash(user)
  expect([await verifyPassword('another horse', hash), await verifyPassword(password, hash)]).toEqual([
    true,
    false,
  ])
  expect(await livingTokens()).toBe(0)
})

test('disabling ends the token, enabling does not bring it back', async () => {
  const user = await newApiUser()
  await logIn(user)
  const at = new Date('2030-01-01T00:00:00Z')
  expect((await disableUser(database.db, companyId, user.id, at))?.disabledAt).toEqual(at)
  expect(await livingTokens()).toBe(0)
  expect((await disableUser(database.db, companyId, user.id, null))?.disabledAt).toBeNull()
  expect(await livingTokens()).toBe(0)
})

test('a user that is no API user any more keeps no token; a new name alone keeps it', async () => {
  const user = await newApiUser()
  await logIn(user)
  must(await changeUser(database.db, companyId, user.id, { name: 'renamed' }))
  expect(await livingTokens()).toBe(1)
  must(await changeUser(database.db, companyId, user.id, { role: 'viewer' }))
  expect(await livingTokens()).toBe(0)
})

test('killing a token says whether there was one', async () => {
  const user = await newApiUser()
  await logIn(user)
  expect([
    await killUserToken(database.db, companyId, user.id),
    await killUserToken(database.db, companyId, user.id),
  ]).toEqual([true, false])
})

test("another company's users are out of reach", async () => {
  const user = await newApiUser()
  await logIn(user)
  const stranger = must(await createCompany(database.db, testSealer, { name: `Stranger ${companies++}` }))
  expect(await listUsers(database.db, stranger.id)).toEqual([])
  expect(await changePassword(database.db, stranger.id, user.id, 'stolen horse')).toBeUndefined()
  expect(await disableUser(database.db, stranger.id, user.id, new Date(0))).toBeUndefined()
  expect(await killUserToken(database.db, stranger.id, user.id)).toBe(false)
  expect(await livingTokens()).toBe(1)
})

test('renewing a direct token revokes the old one and keeps channels and allow list', async () => {
  const token = must(
    await createDirectToken(database.db, companyId, {
      name: 'Shop',
      channels: ['sms'],
      allowedAddresses: ['192.0.2.0/24', '::1'],
    }),
  )
  const now = new Date('2030-01-01T00:00:00Z')
  const renewed = await renewDirectToken(database.db, companyId, token.id, now)
  expect(renewed).toMatchObject({
    name: 'Shop',
    channels: ['sms'],
    allowedAddresses: ['192.0.2.0/24', '::1'],
    revokedAt: null,
  })
  expect(renewed!.token).not.toBe(token.token)
  const listed = await listDirectTokens(database.db, companyId)
  expect(listed.map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
    [renewed!.id, null],
    [token.id, now],
  ])
  expect(await renewDirectToken(database.db, companyId, token.id, now)).toBeUndefined()
  expect(await revokeDirectToken(database.db, companyId, renewed!.id, now)).toBe(true)
  expect(await revokeDirectToken(database.db, companyId, renewed!.id, now)).toBe(false)
})

test('an allow list takes addresses and ranges only', async () => {
  for (const wrong of ['localhost', '10.0.0.0/33', '1', '10.0.0.1-9', ''])
    expect(
      await createDirectToken(database.db, companyId, { name: 'x', allowedAddresses: [wrong] }),
    ).toMatchObject({
      ok: false,
      problems: [{ field: 'allowedAddresses' }],
    })
})
