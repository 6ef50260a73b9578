import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { raised, type CounterValue } from '../domain/counter.ts'
import { newId } from '../lib/ids.ts'
import { loadCounters, raiseCounters, removeOldDuplicateMarks } from './counters.ts'

let database: TestDatabase
const companyId = newId()

beforeAll(async () => {
  database = await createTestDatabase()
  await database.db.query(
    `insert into company (id, name, name_key, private_token_sealed, private_token_hash, callback_secret_sealed)
      values ($1, 'c', 'c', '', '', '')`,
    [companyId],
  )
})
afterAll(() => database.drop())

async function newContact(): Promise<string> {
  const id = newId()
  await database.db.query('insert into contact (id, company_id, phone, phone_key) values ($1, $2, $3, $3)', [
    id,
    companyId,
    `+${id}`,
  ])
  return id
}

const load = async (contactId: string, key: string) =>
  (await loadCounters(database.db, [{ contactId, key }])).get(contactId)?.get(key)

describe('counters', () => {
  test('the statement counts as the pure function does, raise by raise and all at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 }),
        async (hours) => {
          const oneByOne = await newContact()
          const together = await newContact()
          const raises = hours.map((hour) => ({ key: 'cap:x', at: new Date(Date.UTC(2026, 0, 1, hour)) }))
          let expected: CounterValue | undefined
          for (const raise of raises) {
            expected = raised(expected, raise)
            await raiseCounters(database.db, [{ ...raise, contactId: oneByOne }])
          }
          expect(await load(oneByOne, 'cap:x')).toEqual(expected)
          const sorted = raises.toSorted((a, b) => a.at.getTime() - b.at.getTime())
          await raiseCounters(
            database.db,
            sorted.map((raise) => ({ ...raise, contactId: together })),
          )
          expect(await load(together, 'cap:x')).toEqual(
            sorted.reduce<CounterValue | undefined>(raised, undefined),
          )
        },
      ),
      { numRuns: 30 },
    )
  })

  test('simultaneous raises are all counted', async () => {
    const contactId = await newContact()
    const at = new Date('2026-01-01T00:00:00Z')
    await Promise.all(
      Array.from({ length: 40 }, () => raiseCounters(database.db, [{ contactId, key: 'cap:y', at }])),
    )
    expect(await load(contactId, 'cap:y')).toEqual({ count: 40, at })
  })

  test('loading and raising a batch is one statement each', async () => {
    const contacts = await Promise.all(Array.from({ length: 20 }, newContact))
    const at = new Date('2026-01-01T00:00:00Z')
    const wanted = contacts.flatMap((contactId) => ['a', 'b'].map((key) => ({ contactId, key })))
    const before = database.db.roundTrips
    await raiseCounters(
      database.db,
      wanted.map((counter) => ({ ...counter, at })),
    )
    const counters = await loadCounters(database.db, wanted)
    expect(database.db.roundTrips - before).toBe(2)
    expect(counters.size).toBe(20)
    expect(await loadCounters(database.db, [])).toEqual(new Map())
  })

  test('old marks of contents go in bounded steps, caps stay', async () => {
    const contactId = await newContact()
    const old = new Date('2020-01-01T00:00:00Z')
    await raiseCounters(
      database.db,
      ['dup:1', 'dup:2', 'dup:3', 'cap:z'].map((key) => ({ contactId, key, at: old })),
    )
    const before = new Date('2021-01-01T00:00:00Z')
    expect(await removeOldDuplicateMarks(database.db, before, 2)).toBe(2)
    expect(await removeOldDuplicateMarks(database.db, before)).toBe(1)
    expect(await load(contactId, 'cap:z')).toEqual({ count: 1, at: old })
  })
})
