/** Templates and media as the console handles them: approval at the provider, tests to a recipient, where a file is used. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { showId } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { startSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts'
import type { App } from '../../harness/app.ts'
import type { TestCompany } from '../../harness/factories.ts'
import { items, signInAs, startAdmin, type Client } from './support.ts'

let app: App
let sandbox: Sandbox
let company: TestCompany
let client: Client

beforeAll(async () => {
  sandbox = await startSandbox({ clock: systemClock, log: silentLog })
  app = await startAdmin({
    config: { outboundExceptions: [`brokers=${new URL(sandbox.graph.baseUrl).host}`] },
  })
  company = await app.makeCompany()
  client = (await signInAs(app, company, 'administrator')).client
})
afterAll(async () => {
  await app?.stop()
  await sandbox?.stop()
})

const fresh = {
  name: 'Fresh',
  code: 'fresh',
  channel: 'whatsapp',
  kind: 'text',
  content: {
    body: 'Something new for @Name today',
    variables: ['Name'],
    provider: { name: 'fresh', language: 'en' },
  },
}

test('a template is handed in, and what the provider decides is read with its reason', async () => {
  const made = await client.call('POST', '/templates', fresh)
  const path = `/templates/${String(made.body['id'])}`
  expect(made.body).toMatchObject({ approval: 'pending', approvalReason: null })

  const nowhere = await client.call('POST', `${path}/submit`)
  expect(nowhere.status).toBe(409)
  expect(nowhere.body['message']).toContain('no WhatsApp line')

  const { baseUrl, wabaId, accessToken, appSecret, verifyToken } = sandbox.graph
  const settings = { baseUrl, wabaId, accessToken, appSecret, verifyToken, phoneNumberId: '1' }
  const line = `/lines/${showId('lin', company.lines.whatsapp[0]!.id)}`
  expect((await client.call('PATCH', line, { settings })).status).toBe(200)

  const submitted = await client.call('POST', `${path}/submit`)
  expect(submitted.body).toMatchObject({ approval: 'pending' })
  expect(submitted.headers['etag']).toBeDefined()
  await expect
    .poll(async () => {
      expect((await client.call('POST', '/templates/refresh')).body).toEqual({ known: 1 })
      return (await client.get(path)).body['approval']
    })
    .toBe('approved')
  expect(items(await client.get('/templates?approval=approved&channel=whatsapp&q=fresh'))).toHaveLength(1)
  expect(items(await client.get('/templates?approval=pending&q=fresh'))).toHaveLength(0)
  expect(items(await client.get('/templates?isEnabled=false&q=fresh'))).toHaveLength(0)

  const sms = showId('tpl', company.templates['fixed-sms']!.id)
  expect((await client.call('POST', `/templates/${sms}/submit`)).status).toBe(409)
  const stale = { headers: { 'if-match': '"1"' } }
  expect((await client.call('POST', `${path}/submit`, undefined, stale)).status).toBe(412)
})

test('a reason of the provider is kept until somebody decides otherwise', async () => {
  const id = company.templates['image-header']!.id
  await app.db.query(
    `update template set approval = 'rejected', approval_reason = 'INVALID_FORMAT' where id = $1`,
    [id],
  )
  const path = `/templates/${showId('tpl', id)}`
  expect((await client.get(path)).body).toMatchObject({
    approval: 'rejected',
    approvalReason: 'INVALID_FORMAT',
  })
  expect((await client.call('PATCH', path, { isEnabled: true })).body).toMatchObject({
    approvalReason: 'INVALID_FORMAT',
  })
  expect((await client.call('PATCH', path, { approval: 'approved' })).body).toMatchObject({
    approvalReason: null,
  })
})

test('a test says at its fields what is wrong', async () => {
  const path = `/templates/${showId('tpl', company.templates['numbered-sms']!.id)}/test`
  const wrong = await client.call('POST', path, { recipient: 'nobody' })
  expect(wrong.body['errors']).toHaveProperty('recipient')
  const unfilled = await client.call('POST', path, { recipient: '+55 31 98765-0099' })
  expect(unfilled.status).toBe(400)
  expect(unfilled.body['errors']).toHaveProperty('variables')
  const picture = { recipient: '+5531987650099', mediaIds: ['med_00000000000000000000000000000001'] }
  expect((await client.call('POST', path, picture)).body['errors']).toHaveProperty(['mediaIds[0]'])
})

test('an item of the media library knows the templates that show it', async () => {
  const made = await client.call('POST', '/media?name=logo.png', Buffer.from('not really a picture'), {
    headers: { 'content-type': 'image/png' },
  })
  expect(made.status).toBe(201)
  const path = `/media/${String(made.body['id'])}`
  expect((await client.get(path)).body['usedBy']).toEqual([])
  const template = await client.call('POST', '/templates', {
    name: 'With logo',
    code: 'with-logo',
    channel: 'email',
    kind: 'text',
    content: { subject: 'Hello', body: `<img src="${String(made.body['url'])}" alt="">` },
  })
  expect((await client.get(path)).body['usedBy']).toEqual([{ id: template.body['id'], name: 'With logo' }])
  expect(items(await client.get('/media?kind=image&q=logo'))).toHaveLength(1)
  expect(items(await client.get('/media?kind=video'))).toHaveLength(0)
})
