import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, makeContact, must, type TestCompany } from '../../test/harness/factories.ts'
import { closeAttendance, closeIdleAttendances, getOpenAttendance, openAttendance } from './attendances.ts'
import { listAudit, recordAudit } from './audit.ts'
import { createContact, findContactByPhone, getContact, openWindow } from './contacts.ts'

let database: TestDatabase
let company: TestCompany
beforeAll(async () => {
  database = await createTestDatabase()
  company = await makeCompany(database.db)
})
afterAll(() => database.drop())

const at = (text: string) => new Date(`2030-01-01T${text}:00Z`)

test('a Brazilian mobile is one contact with and without its ninth digit', async () => {
  const { db } = database
  const first = must(await createContact(db, company.id, { phone: '553188887777', name: 'First' }))
  const second = must(await createContact(db, company.id, { phone: '5531988887777', name: 'Second' }))
  expect(second).toEqual(first)
  expect((await findContactByPhone(db, company.id, '5531988887777'))?.name).toBe('First')
})

test('a contact needs an address, and a possible one', async () => {
  const { db } = database
  expect(await createContact(db, company.id, { name: 'Nobody' })).toMatchObject({ ok: false })
  expect(await createContact(db, company.id, { phone: '12' })).toMatchObject({
    problems: [{ field: 'phone' }],
  })
  expect(await createContact(db, company.id, { email: 'x' })).toMatchObject({
    problems: [{ field: 'email' }],
  })
})

test('an older message never shortens a window', async () => {
  const { db } = database
  const contact = await makeContact(db, company.id)
  const line = company.lines.whatsapp[0]!
  for (const time of ['10:00', '12:00', '11:00']) await openWindow(db, contact.id, line.id, at(time))
  const rows = await db.query('select received_at as at from contact_window where contact_id = $1', [
    contact.id,
  ])
  expect(rows).toEqual([{ at: at('12:00') }])
})

test('an attendance opens, moves, closes; there is never a second one', async () => {
  const { db } = database
  const contact = await makeContact(db, company.id)
  const opened = await openAttendance(db, company.id, {
    contactId: contact.id,
    userId: company.attendant.id,
    at: at('10:00'),
  })
  const moved = await openAttendance(db, company.id, {
    contactId: contact.id,
    userId: company.apiUser.id,
    at: at('11:00'),
  })
  expect(moved).toEqual({ ...opened, userId: company.apiUser.id, activeAt: at('11:00') })
  expect(await closeAttendance(db, company.id, contact.id, { at: at('12:00'), by: 'ana' })).toBe(true)
  expect(await closeAttendance(db, company.id, contact.id, { at: at('12:00'), by: 'ana' })).toBe(false)
  expect(await getOpenAttendance(db, company.id, contact.id, at('12:00'))).toBeUndefined()
})

test("an idle attendance is over after the company's hours, and is closed in bites", async () => {
  const { db } = database
  const contacts = [await makeContact(db, company.id), await makeContact(db, company.id)]
  for (const contact of contacts)
    await openAttendance(db, company.id, {
      contactId: contact.id,
      userId: company.attendant.id,
      at: at('10:00'),
    })
  const almost = new Date(at('10:00').getTime() + 24 * 3_600_000 - 1)
  const over = new Date(almost.getTime() + 1)
  expect(await getOpenAttendance(db, company.id, contacts[0]!.id, almost)).toBeDefined()
  expect(await getOpenAttendance(db, company.id, contacts[0]!.id, over)).toBeUndefined()
  expect(await closeIdleAttendances(db, almost, 10)).toBe(0)
  expect(await closeIdleAttendances(db, over, 1)).toBe(1)
  expect(await closeIdleAttendances(db, over, 10)).toBe(1)
})

test('the audit log is read newest first, page by page, within the company', async () => {
  const { db } = database
  for (const action of ['create', 'change', 'remove'])
    await recordAudit(db, { companyId: company.id, actor: 'ana', action, noun: 'line', detail: { action } })
  const page = await listAudit(db, company.id, { limit: 2 })
  expect(page.map(({ action }) => action)).toEqual(['remove', 'change'])
  const rest = await listAudit(db, company.id, { limit: 2, beforeId: page[1]!.id })
  expect(rest).toMatchObject([{ action: 'create', detail: { action: 'create' } }])
  const stranger = await makeCompany(db)
  expect(await listAudit(db, stranger.id, { limit: 2 })).toEqual([])
})

test("another company's contacts are out of reach", async () => {
  const contact = await makeContact(database.db, company.id)
  const stranger = await makeCompany(database.db)
  expect(await getContact(database.db, stranger.id, contact.id)).toBeUndefined()
})
