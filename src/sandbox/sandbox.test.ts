import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callApi, callGraph, startTestSandbox } from './testing.ts'

const hello = {
  name: 'ola',
  language: 'pt_BR',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Oi!' }],
}

test('it refuses to listen anywhere but on loopback', async () => {
  for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.com']) {
    await expect(startTestSandbox({ host })).rejects.toThrow('loopback only')
  }
})

test('a restart keeps credentials, ports, templates, media, windows and inbox; files are private', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pombo-sandbox-'))
  const first = await startTestSandbox({ dataDir })
  const { id } = first.graph.phoneNumbers[0]!
  await callGraph(first, `/${first.graph.wabaId}/message_templates`, 'POST', hello)
  first.person.write({ channel: 'whatsapp', from: '+5531933330001', to: id, text: 'oi' })
  const form = new FormData()
  form.set('messaging_product', 'whatsapp')
  form.set('file', new Blob(['x'], { type: 'image/png' }), 'x.png')
  const headers = { authorization: `Bearer ${first.graph.accessToken}` }
  const upload = await fetch(`${first.graph.baseUrl}/${id}/media`, { method: 'POST', headers, body: form })
  const media = ((await upload.json()) as { id: string }).id
  await expect(startTestSandbox({ dataDir })).rejects.toThrow('Another sandbox uses the folder')
  await first.stop()

  const second = await startTestSandbox({ dataDir })
  expect([second.url, second.smtp, second.smpp]).toEqual([first.url, first.smtp, first.smpp])
  expect(second.graph.accessToken).toBe(first.graph.accessToken)
  expect((await callGraph(second, `/${second.graph.wabaId}/message_templates`)).body.data[0].name).toBe('ola')
  expect((await callGraph(second, `/${media}`)).body.file_size).toBe(1)
  const free = { messaging_product: 'whatsapp', to: '5531933330001', type: 'text', text: { body: 'x' } }
  expect((await callGraph(second, `/${id}/messages`, 'POST', free)).status).toBe(200)
  expect((await callApi(second, '/api/messages')).body.messages).toHaveLength(2)
  expect((await stat(join(dataDir, 'sandbox.json'))).mode & 0o777).toBe(0o600)
  await second.stop()
  expect(await readFile(join(dataDir, 'inbox.jsonl'), 'utf8')).toContain('+5531933330001')
  await rm(dataDir, { recursive: true })
})

test('two run side by side; a taken port that was asked for is told in a sentence', async () => {
  const [one, two] = await Promise.all([startTestSandbox(), startTestSandbox()])
  expect(one.url).not.toBe(two.url)
  const port = one.smtp.port
  await expect(startTestSandbox({ ports: { smtp: port } })).rejects.toThrow(
    `Port ${port} of 127.0.0.1 is taken`,
  )
  await Promise.all([one.stop(), two.stop()])
})

test('numbers, templates and addresses can be set while it runs; a bad template is refused by name', async () => {
  const sandbox = await startTestSandbox({ graph: { phoneNumbers: [] } })
  sandbox.configure({
    phoneNumbers: [
      { id: '1', number: '5531955550001' },
      { id: '2', number: '+5531955550002' },
    ],
    templates: [hello],
  })
  sandbox.configure({
    phoneNumbers: [{ id: '2', number: '+5531955550002', webhookUrl: 'http://127.0.0.1:9/x' }],
  })
  expect(sandbox.graph.phoneNumbers.map(({ number }) => number)).toEqual(['+5531955550001', '+5531955550002'])
  expect(sandbox.graph.phoneNumbers[1]!.webhookUrl).toBe('http://127.0.0.1:9/x')
  const message = {
    messaging_product: 'whatsapp',
    to: '5531933330001',
    type: 'template',
    template: { name: 'ola', language: { code: 'pt_BR' } },
  }
  expect((await callGraph(sandbox, '/2/messages', 'POST', message)).status).toBe(200)
  expect(() => sandbox.configure({ templates: [{ ...hello, name: 'Olá!' }] })).toThrow(
    'Template Olá!: name must be',
  )
  await sandbox.stop()
})

test('pages of other sites get nothing: foreign Host and foreign Origin are turned away', async () => {
  const sandbox = await startTestSandbox({ allowedOrigins: ['http://localhost:1234'] })
  const { port } = new URL(sandbox.url)
  const statusWith = (headers: Record<string, string>, method = 'GET') =>
    new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/api/messages', method, headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })
  expect(await statusWith({ host: `evil.example:${port}` })).toBe(403)
  expect(await statusWith({ origin: 'https://evil.example' }, 'DELETE')).toBe(403)
  expect(await statusWith({ origin: 'http://localhost:1234' }, 'DELETE')).toBe(200)
  expect(await statusWith({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200)
  const page = await fetch(sandbox.url)
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  const html = await page.text()
  expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=/i)
  await sandbox.stop()
})

test('bad questions to the API name their field', async () => {
  const sandbox = await startTestSandbox()
  const field = async (path: string, method = 'GET', body?: unknown) =>
    (await callApi(sandbox, path, method, body)).body.error.field
  expect(await field('/api/messages?chanel=sms')).toBe('chanel')
  expect(await field('/api/messages?channel=fax')).toBe('channel')
  expect(await field('/api/messages?limit=0')).toBe('limit')
  expect(await field('/api/messages?after=x')).toBe('after')
  expect(await field('/api/messages/wait?timeoutMs=999999')).toBe('timeoutMs')
  expect(await field('/api/answers', 'POST', { channel: 'email' })).toBe('channel')
  expect(await field('/api/answers', 'POST', { channel: 'sms', from: '+5531933330001', to: '28000' })).toBe(
    'text',
  )
  expect(await field('/api/settings', 'PUT', { sms: { receiptForm: 'x' } })).toMatch(/^sms\.receiptForm/)
  expect(
    await field('/api/settings', 'PUT', {
      email: { rules: [{ stage: 'to', pattern: 'x', code: 1, words: '' }] },
    }),
  ).toBe('email.rules.0.code')
  expect(await field('/api/chaos', 'PUT', { sms: { dropAfterRate: 5 } })).toBe('sms.dropAfterRate')
  expect((await callApi(sandbox, '/api/messages/nothing')).status).toBe(404)
  const status = JSON.stringify((await callApi(sandbox, '/api/status')).body)
  for (const secret of [
    sandbox.smtp.password,
    sandbox.smpp.password,
    sandbox.graph.appSecret,
    sandbox.graph.accessToken,
  ]) {
    expect(status).not.toContain(secret)
  }
  await sandbox.stop()
})

test('live events: a message and its statuses reach a page that listens', async () => {
  const sandbox = await startTestSandbox()
  const stream = await fetch(`${sandbox.url}/api/events`)
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  sandbox.person.write({ channel: 'sms', from: '+5531933330001', to: '28000', text: 'ao vivo' })
  let seen = ''
  for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
    seen += chunk
    if (seen.includes('ao vivo')) break
  }
  expect(seen).toMatch(/event: message\ndata: \{.*"text":"ao vivo"/)
  await sandbox.stop()
})
