/**
 * Whether a company or a user exists cannot be told from how long a refusal takes. What takes long is the hash of the
 * password (30 ms of 32): it is counted, since a clock on a busy machine tells everything and nothing.
 */
import type * as crypto from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signInAnswer } from '../contract/admin/support.ts'
import { makeUser, type TestCompany } from '../harness/factories.ts'
import { request, type Answer } from '../harness/http.ts'
import { startWhole, type Whole } from '../harness/whole.ts'

const { hashed } = vi.hoisted(() => ({ hashed: [] as unknown[] }))

/** The real one, noting what it was asked to do. */
vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>()
  const argon2: typeof crypto.argon2 = (algorithm, parameters, callback) => {
    const { memory, passes, parallelism, tagLength } = parameters
    hashed.push({ algorithm, memory, passes, parallelism, tagLength })
    real.argon2(algorithm, parameters, callback)
  }
  return { ...real, default: real, argon2 }
})

let whole: Whole
let company: TestCompany

beforeAll(async () => {
  whole = await startWhole()
  company = await whole.makeCompany()
})
afterAll(() => whole.stop())

const wrong = 'a wrong password'
const work = { algorithm: 'argon2id', memory: 19 * 1024, passes: 2, parallelism: 1, tagLength: 32 }

async function expectSameWork(tries: Record<string, () => Promise<Answer>>): Promise<void> {
  const texts = new Set<string>()
  for (const [name, attempt] of Object.entries(tries)) {
    hashed.length = 0
    const answer = await attempt()
    expect(answer.status, name).toBe(401)
    expect(hashed, `${name} is refused after one hash, like any other`).toEqual([work])
    texts.add(JSON.stringify({ ...answer.body, requestId: '' }))
  }
  expect(texts.size, 'and with the same words').toBe(1)
}

test('login of the unified API', async () => {
  const { name, apiUser, attendant } = company
  const disabled = await makeUser(whole.db, company.id, 'api')
  await whole.db.query('update app_user set disabled_at = now() where id = $1', [disabled.id])
  const suspended = await whole.makeCompany()
  await whole.db.query(`update company set suspended_at = now() where id = $1`, [suspended.id])
  const logIn =
    (Company: string, Username: string, Password = wrong) =>
    () =>
      request(`${whole.url}/v1/login`, { body: { Company, Username, Password }, from: '127.20.0.1' })
  await expectSameWork({
    'a wrong password': logIn(name, apiUser.name),
    'an unknown user': logIn(name, 'nobody at all'),
    'an unknown company': logIn('No such company', apiUser.name),
    'a user of the console': logIn(name, attendant.name, attendant.password),
    'a disabled user': logIn(name, disabled.name, disabled.password),
    'a suspended company': logIn(suspended.name, suspended.apiUser.name, suspended.apiUser.password),
  })
})

test('signing in to the console', async () => {
  const user = await makeUser(whole.db, company.id, 'viewer')
  const disabled = await makeUser(whole.db, company.id, 'viewer')
  await whole.db.query('update app_user set disabled_at = now() where id = $1', [disabled.id])
  const signIn =
    (of: { name: string }, username: string, password = wrong) =>
    () =>
      signInAnswer(whole, of, { name: username, password }, {}, { from: '127.20.0.2' })
  await expectSameWork({
    'a wrong password': signIn(company, user.name),
    'an unknown user': signIn(company, 'nobody at all'),
    'an unknown company': signIn({ name: 'No such company' }, user.name),
    'an API user': signIn(company, company.apiUser.name, company.apiUser.password),
    'a disabled user': signIn(company, disabled.name, disabled.password),
  })
})
