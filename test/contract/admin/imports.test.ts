/** Imports: good lines go in, bad ones are reported, the same file again changes nothing, a dead process is replaced. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createImport, addImportChunk, queueImport } from '../../../src/store/imports.ts'
import { createImportRunner } from '../../../src/flows/run-imports.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { showId } from '../../../src/lib/ids.ts'
import type { App } from '../../harness/app.ts'
import { makeContact, type TestCompany } from '../../harness/factories.ts'
import { until, type Answer } from '../../harness/http.ts'
import { items, signInAs, startAdmin, type Client } from './support.ts'

let app: App
let company: TestCompany
let client: Client

beforeAll(async () => {
  app = await startAdmin()
  company = await app.makeCompany()
  client = (await signInAs(app, company, 'supervisor')).client
})
afterAll(() => app.stop())

const csv = { headers: { 'content-type': 'text/csv' } }

async function finished(started: Answer): Promise<Record<string, unknown>> {
  expect(started.status, started.text).toBe(202)
  const path = `/imports/${String(started.body['id'])}`
  return await until(
    'the import is done',
    async () => {
      const { body } = await client.get(path)
      return body['state'] === 'done' || body['state'] === 'failed' ? body : undefined
    },
    60_000,
  )
}

test(
  'contacts of a hundred thousand lines go in, and the bad lines are named',
  { timeout: 120_000 },
  async () => {
    const lines = ['phone;name;segment;joker1']
    for (let index = 0; index < 100_000; index++)
      lines.push(
        index % 1000 === 7
          ? `12;Too short;;`
          : `55 31 9${String(10_000_000 + index)};"Person ${index}; of many";W1;x`,
      )
    const job = await finished(
      await client.call('POST', '/contacts/import?fileName=many.csv', lines.join('\n'), csv),
    )
    expect(job).toMatchObject({
      state: 'done',
      fileName: 'many.csv',
      progress: { linesRead: 100_000, added: 99_900, bad: 100, changed: 0, unchanged: 0 },
    })
    const bad = await client.get(`/imports/${String(job['id'])}/bad-lines`)
    const report = bad.text.trim().split('\r\n')
    expect(report).toHaveLength(101)
    expect(report[1]).toMatch(/^9,.*phone must be 8 to 15 digits/)
    const found = items(await client.get('/contacts?q=person%2099999%3B'))
    expect(found).toMatchObject([
      { phone: '+5531910099999', segmentId: showId('seg', company.segments[0].id) },
    ])
  },
)

test('known contacts stay as they are unless told otherwise; the same file again changes nothing', async () => {
  const contact = await makeContact(app.db, company.id, {
    phone: '5531987650001',
    name: 'Old name',
    tag: 'kept',
  })
  const file =
    'Phone,E-mail,Name,opted_out\n+55 31 8765-0001,ana@example.com,New name,sms whatsapp\n,not-an-address,x,\n,,,\n12,,y,\n5531987650002,,z,fax\n'
  const first = await finished(await client.call('POST', '/contacts/import', file, csv))
  expect(first['progress']).toMatchObject({ linesRead: 5, added: 0, changed: 0, unchanged: 1, bad: 4 })
  const path = `/contacts/${showId('con', contact.id)}`
  expect((await client.get(path)).body).toMatchObject({ name: 'Old name', email: null })
  const second = await finished(await client.call('POST', '/contacts/import?updateIfExists=true', file, csv))
  expect(second['progress']).toMatchObject({ changed: 1 })
  expect((await client.get(path)).body).toMatchObject({
    name: 'New name',
    tag: 'kept',
    email: 'ana@example.com',
    optedOutChannels: ['sms', 'whatsapp'],
  })
  const third = await finished(await client.call('POST', '/contacts/import?updateIfExists=true', file, csv))
  expect(third['progress']).toMatchObject({ added: 0, changed: 0, unchanged: 1 })
})

test('a row whose phone and e-mail are two contacts, and a contact named twice, do no harm', async () => {
  const byPhone = await makeContact(app.db, company.id, { phone: '5531987650011' })
  await makeContact(app.db, company.id, { email: 'torn@example.com' })
  const file =
    'phone,email,name\n5531987650011,torn@example.com,Torn\n5531987650012,,Twice\n553187650012,,Twice again\n'
  const job = await finished(await client.call('POST', '/contacts/import?updateIfExists=true', file, csv))
  expect(job['state']).toBe('done')
  expect((await client.get(`/contacts/${showId('con', byPhone.id)}`)).body).toMatchObject({
    name: 'Torn',
    email: null,
  })
  expect(items(await client.get('/contacts?q=5531987650012'))).toMatchObject([{ name: 'Twice again' }])
})

test('a file without columns or without anything is refused with a sentence', async () => {
  const empty = await client.call('POST', '/contacts/import', '', csv)
  expect(empty.status).toBe(400)
  expect(empty.body['errors']).toHaveProperty('body')
  const headless = await finished(await client.call('POST', '/contacts/import', '5531987650001,Ana\n', csv))
  expect(headless).toMatchObject({ state: 'failed', error: expect.stringContaining('first line') as string })
})

test('restriction lists take bare values and columns', async () => {
  const list = await client.call('POST', '/restriction-lists', { name: 'Imported' })
  const path = `/restriction-lists/${String(list.body['id'])}`
  const job = await finished(
    await client.call('POST', `${path}/import?field=phone`, '5531987650021\nnonsense\n5531987650022\n', csv),
  )
  expect(job['progress']).toMatchObject({ added: 2, bad: 1 })
  expect(
    items(await client.get(`${path}/entries?value=${encodeURIComponent('+55 31 8765-0021')}`)),
  ).toHaveLength(1)
  const page = await client.get(`${path}/entries?limit=1`)
  const next = await client.get(`${path}/entries?limit=1&cursor=${String(page.body['nextCursor'])}`)
  expect(items(next)[0]!['value']).toBe('5531987650022')
  expect(next.body['nextCursor']).toBeNull()
})

test('an import whose process died is taken up by another', async () => {
  const id = await createImport(app.db, company.id, {
    kind: 'contacts',
    options: {},
    fileName: 'x.csv',
    createdBy: 'test',
  })
  await addImportChunk(app.db, id, 0, Buffer.from('phone\n5531987650031\n'))
  await queueImport(app.db, company.id, id, 20)
  await app.db.query(
    `update import_job set state = 'running', tries = 1, leased_until = now() - interval '1 second' where id = $1`,
    [id],
  )
  const runner = createImportRunner({ db: app.db, log: silentLog })
  runner.wake()
  const job = await until('it is done', async () => {
    const { body } = await client.get(`/imports/${showId('job', id)}`)
    return body['state'] === 'done' ? body : undefined
  })
  await runner.close()
  expect(job['progress']).toMatchObject({ added: 1 })
  const chunks = await app.db.query('select 1 from import_chunk')
  expect(chunks).toEqual([])
})
