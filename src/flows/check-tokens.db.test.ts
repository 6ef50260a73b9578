import { expect, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { makeCompany } from '../../test/harness/factories.ts'
import { systemClock } from '../lib/clock.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import { createTokenChecker } from './check-tokens.ts'

test('direct tokens: all that the door asks, and nothing once revoked', async () => {
  const { db } = await testDatabase()
  const company = await makeCompany(db)
  const tokens = createTokenChecker({ db, clock: systemClock })
  const caller = await tokens.direct.lookUp(company.directToken.token)
  expect(caller).toMatchObject({
    companyId: company.id,
    suspendedAt: null,
    allowedAddresses: [],
    sender: { kind: 'direct_token', id: company.directToken.id, companyId: company.id },
  })
  expect(caller!.channels.toSorted()).toEqual(['email', 'sms', 'whatsapp'])
  expect(await tokens.direct.lookUp('nonsense')).toBeUndefined()
  expect(await tokens.api.lookUp(company.directToken.token)).toBeUndefined()
  await db.query('update direct_token set revoked_at = now() where id = $1', [company.directToken.id])
  expect(await tokens.direct.lookUp(company.directToken.token)).toBeUndefined()
})

test('a burst of requests with one token costs few round trips', async () => {
  const { db } = await testDatabase()
  const company = await makeCompany(db)
  const tokens = createTokenChecker({ db, clock: systemClock })
  const before = db.roundTrips
  const callers = await Promise.all(
    Array.from({ length: 500 }, () => tokens.direct.lookUp(company.directToken.token)),
  )
  expect(callers.every((caller) => caller?.companyId === company.id)).toBe(true)
  expect(db.roundTrips - before).toBe(1)
})

test('without a database the answer is "try again", not "wrong token"', async () => {
  const { db } = await testDatabase()
  const tokens = createTokenChecker({
    db: { ...db, query: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })) },
    clock: systemClock,
  })
  await expect(tokens.api.lookUp('x')).rejects.toBeInstanceOf(UnavailableError)
})
