import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTransport } from 'nodemailer'
import type { SentMessageInfo } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import { startSandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ clock: systemClock, log: silentLog })
})
afterAll(() => sandbox.stop())

const transport = (options: object = {}) =>
  createTransport({
    host: sandbox.smtp.host,
    port: sandbox.smtp.port,
    requireTLS: true,
    tls: { ca: sandbox.smtp.ca },
    auth: { user: sandbox.smtp.user, pass: sandbox.smtp.password },
    ...options,
  })
const api = async (path: string, init?: RequestInit) => {
  const answer = await fetch(`${sandbox.url}${path}`, init)
  return { status: answer.status, body: (await answer.json()) as Record<string, any> } // oxlint-disable-line typescript/no-explicit-any
}

test('nodemailer alone sends over verified TLS, and the API shows the message whole', async () => {
  const sent: SentMessageInfo = await transport().sendMail({
    from: 'Loja <loja@example.com>',
    to: 'Maria@Example.com',
    subject: 'Seu pedido está a caminho 🚚',
    text: 'Olá, Maria! Chega amanhã.',
    html: '<p>Olá, <b>Maria</b>! <img src="cid:logo@loja"></p><script>alert(1)</script>',
    attachments: [
      { filename: 'nota fiscal.pdf', content: Buffer.from('%PDF-1.4 nota'), contentType: 'application/pdf' },
      {
        filename: 'logo.png',
        cid: 'logo@loja',
        content: Buffer.from('iVBORw0KGgo=', 'base64'),
        contentType: 'image/png',
      },
    ],
    headers: {
      'List-Unsubscribe': '<https://example.com/u/1>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  })
  expect(sent.response).toMatch(/^250 2\.0\.0 Ok: queued as sbx_/)

  const { body: message } = await api('/api/messages/wait?to=maria@example.com&channel=email')
  expect(message).toMatchObject({
    channel: 'email',
    from: 'loja@example.com',
    to: 'Maria@example.com',
    subject: 'Seu pedido está a caminho 🚚',
    status: 'delivered',
    email: {
      isSecure: true,
      hasHtml: true,
      fromName: 'Loja',
      unsubscribe: { url: 'https://example.com/u/1', isOneClick: true },
    },
  })
  const files: { filename: string; mimeType: string; size: number }[] = message.email.attachments
  const place = files.findIndex(({ filename }) => filename === 'nota fiscal.pdf')
  expect(files[place]).toEqual({ filename: 'nota fiscal.pdf', mimeType: 'application/pdf', size: 13 })
  expect(files).toHaveLength(2)
  const { body: whole } = await api(`/api/messages/${message.id}`)
  expect(whole.content.text.trim()).toBe('Olá, Maria! Chega amanhã.')
  expect(whole.content.headers).toContainEqual({
    name: 'List-Unsubscribe-Post',
    value: 'List-Unsubscribe=One-Click',
  })

  const raw = await fetch(`${sandbox.url}/api/messages/${message.id}/raw`)
  expect(await raw.text()).toContain(`Message-ID: ${sent.messageId}`)
  const file = await fetch(`${sandbox.url}/api/messages/${message.id}/attachments/${place}`)
  expect(file.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''nota%20fiscal.pdf")
  expect(await file.text()).toBe('%PDF-1.4 nota')

  const frame = await fetch(`${sandbox.url}/mail/${message.id}`)
  const policy = frame.headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain('sandbox allow-popups')
  expect(policy).not.toContain('allow-scripts')
  expect(await frame.text()).toContain('<img src="data:image/png;base64,iVBORw0KGgo=">')
})

test('one message to three people is three messages in the inbox', async () => {
  await transport().sendMail({
    from: 'a@example.com',
    to: ['b1@x.test', 'b2@x.test'],
    bcc: 'b3@x.test',
    subject: 'hi',
    text: 'hi',
  })
  for (const person of ['b1', 'b2', 'b3']) {
    const { body } = await api(`/api/messages?to=${person}@x.test`)
    expect(body.messages).toHaveLength(1)
  }
})

test('acting as the person: read, bounce, and the next mail to that address is refused', async () => {
  await transport().sendMail({ from: 'loja@example.com', to: 'saiu@example.com', subject: 'Oi', text: 'Oi' })
  const { body: message } = await api('/api/messages/wait?to=saiu@example.com')
  expect((await api(`/api/messages/${message.id}/read`, { method: 'POST' })).body.message.status).toBe('read')
  const bounced = await api(`/api/messages/${message.id}/bounce`, { method: 'POST' })
  expect(bounced.body.message).toMatchObject({ direction: 'fromPerson', to: 'loja@example.com' })
  const report = await (await fetch(`${sandbox.url}/api/messages/${bounced.body.message.id}/raw`)).text()
  expect(report).toContain('Content-Type: message/delivery-status')
  expect(report).toContain('Status: 5.1.1')
  const again = transport().sendMail({ from: 'loja@example.com', to: 'SAIU@example.com', text: 'Oi' })
  await expect(again).rejects.toMatchObject({ responseCode: 550, response: '550 5.1.1 No such user here' })
})

test('unsubscribe is one POST to the address in the message, and never leaves loopback', async () => {
  const posted: string[] = []
  const business = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => posted.push(`${request.method} ${request.url} ${chunk.toString()}`))
    request.on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(business, 'listening')
  const { port } = business.address() as AddressInfo
  const sendWith = async (to: string, url: string, isOneClick: boolean) => {
    const post = isOneClick ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}
    await transport().sendMail({
      from: 'a@x.test',
      to,
      text: 'x',
      headers: { 'List-Unsubscribe': `<mailto:u@x.test>, <${url}>`, ...post },
    })
    const { body: message } = await api(`/api/messages/wait?to=${to}`)
    return api(`/api/messages/${message.id}/unsubscribe`, { method: 'POST' })
  }
  expect((await sendWith('u1@x.test', `http://127.0.0.1:${port}/u/abc`, true)).status).toBe(200)
  expect(posted).toEqual(['POST /u/abc List-Unsubscribe=One-Click'])
  expect((await sendWith('u2@x.test', `http://127.0.0.1:${port}/u/def`, false)).body.error.message).toContain(
    'one click is not offered',
  )
  expect((await sendWith('u3@x.test', 'http://192.0.2.1/u', true)).body.error.message).toContain(
    'is not on loopback',
  )
  business.close()
})

test('dropped after the hand-over: the sender sees a broken connection, the inbox has the message', async () => {
  sandbox.setChaos({ email: { dropAfterRate: 1 } })
  await expect(
    transport().sendMail({ from: 'a@example.com', to: 'after@x.test', text: 'x' }),
  ).rejects.toThrow()
  expect((await api('/api/messages?to=after@x.test')).body.messages).toHaveLength(1)
  sandbox.setChaos({ email: { dropAfterRate: 0, dropBeforeRate: 1 } })
  await expect(
    transport().sendMail({ from: 'a@example.com', to: 'before@x.test', text: 'x' }),
  ).rejects.toThrow()
  expect((await api('/api/messages?to=before@x.test')).body.messages).toHaveLength(0)
  sandbox.setChaos({ email: { dropBeforeRate: 0, errors: [{ code: 451, rate: 1 }] } })
  const refused = transport().sendMail({ from: 'a@example.com', to: 'c@x.test', text: 'x' })
  await expect(refused).rejects.toMatchObject({ responseCode: 451 })
  sandbox.setChaos({ email: { errors: [] } })
})
