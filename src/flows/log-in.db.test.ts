import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, type TestCompany } from '../../test/harness/factories.ts'
import { createTokenChecker } from './check-tokens.ts'
import { createLogIn, type LogInRequest } from './log-in.ts'

let database: TestDatabase
let company: TestCompany
let nextAddress = 1
let address: string
let now: Date
const clock = { now: () => now }

beforeAll(async () => {
  database = await createTestDatabase()
  company = await makeCompany(database.db)
})
afterAll(() => database.drop())
beforeEach(() => {
  now = new Date('2026-11-15T12:00:00Z')
  address = `192.0.2.${nextAddress++}`
})

const right = (changes: Partial<LogInRequest> = {}): LogInRequest => ({
  company: company.name,
  username: company.apiUser.name,
  password: company.apiUser.password,
  address,
  ...changes,
})
const wrong = (changes: Partial<LogInRequest> = {}) => right({ password: 'wrong', ...changes })
const pass = (ms: number) => (now = new Date(now.getTime() + ms))
const minute = 60_000

const createProcess = () => ({
  logIn: createLogIn({ db: database.db, clock }),
  tokens: createTokenChecker({ db: database.db, clock }),
})

test('a new login kills the old token, also as another process sees it', async () => {
  const [here, there] = [createProcess(), createProcess()]
  const first = await here.logIn(right())
  if (first.kind !== 'logged_in') throw new Error('expected a token')
  expect((await there.tokens.api.lookUp(first.token))?.companyId).toBe(company.id)
  const second = await there.logIn(right())
  if (second.kind !== 'logged_in') throw new Error('expected a token')
  expect(await here.tokens.api.lookUp(first.token)).toBeUndefined()
  expect((await here.tokens.api.lookUp(second.token))?.userId).toBe(company.apiUser.id)
})

test('of simultaneous logins exactly one token is valid afterwards', async () => {
  const processes = [createProcess(), createProcess()]
  const outcomes = await Promise.all(
    Array.from({ length: 24 }, (_, index) => processes[index % 2]!.logIn(right())),
  )
  const tokens = outcomes.map((outcome) => (outcome.kind === 'logged_in' ? outcome.token : ''))
  expect(new Set(tokens).size).toBe(24)
  const callers = await Promise.all(tokens.map((token) => processes[0]!.tokens.api.lookUp(token)))
  expect(callers.filter((caller) => caller !== undefined)).toHaveLength(1)
})

test('a token ends with its time or its user; a suspended company still shows at the door, but cannot log in', async () => {
  const { logIn, tokens } = createProcess()
  const other = await makeCompany(database.db)
  await database.db.query('update company set token_ttl_seconds = 100 where id = $1', [other.id])
  const login = right({ company: other.name, username: other.apiUser.name, password: other.apiUser.password })
  const outcome = await logIn(login)
  if (outcome.kind !== 'logged_in') throw new Error('expected a token')
  expect(outcome.expiresInSeconds).toBe(100)
  pass(99_999)
  expect(await tokens.api.lookUp(outcome.token)).toBeDefined()
  pass(1)
  expect(await tokens.api.lookUp(outcome.token)).toBeUndefined()
  pass(-1)
  await database.db.query('update app_user set disabled_at = now() where id = $1', [other.apiUser.id])
  expect(await tokens.api.lookUp(outcome.token)).toBeUndefined()
  expect(await logIn(login)).toEqual({ kind: 'refused' })
  await database.db.query('update app_user set disabled_at = null where id = $1', [other.apiUser.id])
  await database.db.query('update company set suspended_at = now() where id = $1', [other.id])
  expect((await tokens.api.lookUp(outcome.token))?.suspendedAt).toBeInstanceOf(Date)
  expect(await logIn(login)).toEqual({ kind: 'refused' })
})

test('ten refusals of one company, user and address lock that triple for five minutes and nobody else', async () => {
  const [here, there] = [createProcess(), createProcess()]
  for (let tried = 0; tried < 10; tried++) {
    expect(await (tried % 2 ? here : there).logIn(wrong())).toEqual({ kind: 'refused' })
    pass(1000)
  }
  expect(await here.logIn(right())).toEqual({ kind: 'locked', retryAfterSeconds: 299 })
  expect(await there.logIn(wrong({ username: company.apiUser.name.toUpperCase() }))).toMatchObject({
    kind: 'locked',
  })
  expect(await here.logIn(wrong({ username: 'somebody else' }))).toEqual({ kind: 'refused' })
  expect(await here.logIn(right({ address: '198.51.100.7' }))).toMatchObject({ kind: 'logged_in' })
  pass(299_000 - 1)
  expect(await here.logIn(right())).toEqual({ kind: 'locked', retryAfterSeconds: 1 })
  pass(2)
  expect(await here.logIn(right())).toMatchObject({ kind: 'logged_in' })
})

test('refusals that are spread over more than five minutes lock nothing', async () => {
  const { logIn } = createProcess()
  for (let tried = 0; tried < 12; tried++) {
    expect(await logIn(wrong())).toEqual({ kind: 'refused' })
    pass(34_000)
  }
})

test('fifty refusals from one address lock the address, whatever was tried', async () => {
  const { logIn } = createProcess()
  const tries = Array.from({ length: 50 }, (_, index) => logIn(wrong({ username: `user ${index % 10}` })))
  for (const outcome of await Promise.all(tries)) expect(outcome).toEqual({ kind: 'refused' })
  expect(await logIn(right())).toMatchObject({ kind: 'locked' })
  expect(await logIn(right({ address: '198.51.100.8' }))).toMatchObject({ kind: 'logged_in' })
  pass(5 * minute + 1)
  expect(await logIn(right())).toMatchObject({ kind: 'logged_in' })
})

test('of simultaneous wrong guesses only ten learn that they were wrong', async () => {
  const processes = [createProcess(), createProcess()]
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, index) => processes[index % 2]!.logIn(wrong())),
  )
  expect(outcomes.filter((outcome) => outcome.kind === 'refused')).toHaveLength(10)
  expect(outcomes.filter((outcome) => outcome.kind === 'locked')).toHaveLength(20)
})
