/** The sandbox behind the admin API: what it lets through, to whom, and what it says where there is none. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSandboxFinder } from '../../../src/flows/demo/find-sandbox.ts'
import { writeQuickstart, type Quickstart } from '../../../src/flows/demo/quickstart.ts'
import { newId } from '../../../src/lib/ids.ts'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { startTestSandbox } from '../../../src/sandbox/testing.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { App, AppOptions } from '../../harness/app.ts'
import { base, signInAs, startAdmin, type Client } from './support.ts'

let sandbox: Sandbox
let app: App
let client: Client
const options: AppOptions = {}

beforeAll(async () => {
  sandbox = await startTestSandbox()
  options.sandboxUrl = sandbox.url
  app = await startAdmin(options)
  client = (await signInAs(app, await app.makeCompany(), 'supervisor')).client
})
afterAll(async () => {
  await app.stop()
  await sandbox.stop()
})

const mail = (body: string) =>
  sandbox.inbox.add(
    {
      channel: 'email',
      direction: 'toPerson',
      line: 'x',
      from: 'a@example.com',
      to: 'b@example.com',
      subject: 'Hello',
      text: 'Hello',
      providerIds: [],
      email: { envelopeFrom: 'a@example.com', hasHtml: true, isSecure: false, attachments: [] },
    },
    Buffer.from(`Subject: Hello\r\nContent-Type: text/html\r\n\r\n${body}`),
  )

test('a person writes, the list and the one message tell it, and a refusal of the sandbox names the field', async () => {
  const written = await client.call('POST', '/sandbox/answers', {
    channel: 'sms',
    from: '5531987654321',
    to: '5531987650010',
    text: 'Is anybody there?',
  })
  expect(written.status).toBe(200)
  const listed = await client.get('/sandbox/messages?channel=sms&search=anybody')
  const [message] = listed.body['messages'] as { id: string; text: string }[]
  expect(message!.text).toBe('Is anybody there?')
  expect((await client.get(`/sandbox/messages/${message!.id}`)).body['direction']).toBe('fromPerson')
  const refused = await client.call('PUT', '/sandbox/chaos', { sms: { dropAfterRate: 7 } })
  expect(refused.status).toBe(400)
  expect(refused.body['errors']).toHaveProperty(['sms.dropAfterRate'])
  const odd = await client.call('POST', `/sandbox/messages/${message!.id}/act`, { act: 'bounce' })
  expect(odd.status).toBe(409)
})

test('mail of others comes into the frame without any power', async () => {
  const { id } = mail('<script>1</script><p>Hi</p>')
  const html = await client.get(`/sandbox/messages/${id}/file?part=html`)
  expect(html.status).toBe(200)
  expect(html.text).toContain('<p>Hi</p>')
  const policy = html.headers['content-security-policy']!
  expect(policy).toContain("default-src 'none'")
  expect(policy).toMatch(/sandbox(?!.*allow-scripts)/)
  expect(html.headers['x-content-type-options']).toBe('nosniff')
  const raw = await client.get(`/sandbox/messages/${id}/file?part=raw`)
  expect(raw.headers['content-type']).toMatch(/^text\/plain/)
  expect((await client.get(`/sandbox/messages/${id}/file?part=attachment&index=0`)).status).toBe(404)
})

test('events are passed on as they happen, and end with whoever listens', async () => {
  const left = new AbortController()
  const answer = await fetch(`${app.url}${base}/sandbox/events`, {
    headers: { cookie: client.cookie },
    signal: left.signal,
  })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  const { id } = mail('<p>Live</p>')
  let heard = ''
  while (!heard.includes(id)) heard += (await reader.read()).value ?? ''
  expect(heard).toContain('event: message')
  left.abort()
})

test('without a sandbox it says so, and everything else is not there', async () => {
  try {
    options.sandboxUrl = undefined
    expect((await client.get('/sandbox')).body).toEqual({ isRunning: false })
    expect((await client.get('/sandbox/chaos')).status).toBe(404)
    expect((await client.call('DELETE', '/sandbox/messages')).status).toBe(404)
    // Nobody listens there.
    options.sandboxUrl = 'http://127.0.0.1:9'
    expect((await client.get('/sandbox')).body).toEqual({ isRunning: false })
    expect((await client.call('DELETE', '/sandbox/chaos')).status).toBe(409)
  } finally {
    options.sandboxUrl = sandbox.url
  }
})

test('only the demo company, and only where its quickstart file is, finds the sandbox', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pombo-finder-'))
  try {
    const companyId = newId()
    await app.db.query(`insert into setting (key, value) values ('demo', $1)`, [
      JSON.stringify({ companyId, attendantId: newId() }),
    ])
    const find = createSandboxFinder({ db: app.db, config: { isDemo: true, dataDir } })
    expect(await find(companyId)).toBeUndefined()
    await writeQuickstart(dataDir, { sandbox: { url: 'http://127.0.0.1:1' } } as Quickstart)
    expect(await find(companyId)).toBe('http://127.0.0.1:1')
    expect(await find(newId())).toBeUndefined()
    const off = createSandboxFinder({ db: app.db, config: { isDemo: false, dataDir } })
    expect(await off(companyId)).toBeUndefined()
  } finally {
    await rm(dataDir, { recursive: true })
  }
})
