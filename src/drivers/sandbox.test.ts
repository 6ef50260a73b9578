/* oxlint-disable unicorn/consistent-function-scoping -- helpers stand beside the tests that use them */
/** Our drivers against our own stand-in for the providers: the two sides were written apart from each other. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox } from '../sandbox/sandbox.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLog } from '../lib/log.ts'
import type { MessageContent } from '../domain/message.ts'
import type { HookResult, LineReport } from './driver.ts'
import {
  guardDriverTests,
  listen,
  openLine,
  testContext,
  testLine,
  testMessage,
  testText,
  until,
} from './driver-test.ts'
import { smpp } from './smpp/index.ts'
import { smtp } from './smtp/index.ts'
import { whatsappCloud } from './whatsapp-cloud/index.ts'

guardDriverTests()

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({
    clock: systemClock,
    log: silentLog,
    graph: {
      phoneNumbers: [{ id: '1001', number: '+5511987654321' }],
      templates: [
        {
          name: 'order',
          language: 'pt_BR',
          category: 'UTILITY',
          components: [
            { type: 'BODY', text: 'Olá {{1}}, chega {{2}}.', example: { body_text: [['a', 'b']] } },
          ],
        },
        {
          name: 'code',
          language: 'pt_BR',
          category: 'AUTHENTICATION',
          components: [
            { type: 'BODY', add_security_recommendation: true },
            { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copiar' }] },
          ],
        },
        {
          name: 'offers',
          language: 'pt_BR',
          category: 'MARKETING',
          components: [
            { type: 'BODY', text: 'Novidades' },
            {
              type: 'CAROUSEL',
              cards: [1, 2].map(() => ({
                components: [
                  { type: 'HEADER', format: 'IMAGE' },
                  { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Quero' }] },
                ],
              })),
            },
          ],
        },
      ],
    },
  })
})
afterAll(() => sandbox.stop())

const inboxOf = (recipient: string) =>
  sandbox.inbox.list({}, 1000).filter((message) => message.to.includes(recipient))

describe('e-mail', () => {
  const settings = () => ({
    host: sandbox.smtp.host,
    port: sandbox.smtp.port,
    security: 'starttls',
    canBeUnverified: true,
    username: sandbox.smtp.user,
    password: sandbox.smtp.password,
  })
  const mail = (recipient: string) =>
    testMessage({ recipient, content: testText('<p>Hello</p>', { subject: 'Hi', isHtml: true }) })

  test('arrives over STARTTLS, with its Message-ID', async () => {
    const message = mail('ana@example.com')
    expect(await openLine(smtp, settings()).send(message)).toMatchObject({ ok: true })
    expect(inboxOf('ana@example.com')).toMatchObject([
      {
        subject: 'Hi',
        email: { hasHtml: true, isSecure: true, messageId: expect.stringContaining(message.id) },
      },
    ])
  })

  test.each([
    ['unknown@example.com', 'rejected'],
    ['full@example.com', 'rejected'],
    ['greylist@example.com', 'throttled'],
    ['unavailable@example.com', 'unreachable'],
    ['spam@example.com', 'rejected'],
  ])('%s → %s', async (recipient, kind) => {
    expect(await openLine(smtp, settings()).send(mail(recipient))).toMatchObject({
      ok: false,
      error: { kind },
    })
  })

  test('a wrong password', async () => {
    expect(await openLine(smtp, { ...settings(), password: 'no' }).send(mail('a@example.com'))).toMatchObject(
      { ok: false, error: { kind: 'misconfigured' } },
    )
  })
})

describe('SMS', () => {
  const settings = () => ({
    host: sandbox.smpp.host,
    port: sandbox.smpp.port,
    systemId: sandbox.smpp.systemId,
    password: sandbox.smpp.password,
  })

  test.each([
    ['a short text', 'Olé', 1],
    ['a long text', 'não '.repeat(40), 3],
  ])('%s is read by the person, and every part is told delivered', async (_, text, parts) => {
    const context = testContext()
    const recipient = `55319968831${parts}0`
    const result = await openLine(smpp, settings(), context).send(
      testMessage({ recipient, content: testText(text, { isFlash: true }) }),
    )
    expect(result).toMatchObject({ ok: true })
    const ids = result.ok ? result.providerIds : []
    expect(ids).toHaveLength(parts)
    expect(inboxOf(recipient)).toMatchObject([{ text, sms: { isFlash: true, parts, partsReceived: parts } }])
    const delivered = () =>
      context.reports.filter((report) => report.kind === 'receipt' && report.receipt.state === 'delivered')
    await until('all delivered', () => delivered().length >= parts)
    expect(
      new Set(delivered().map((report) => (report.kind === 'receipt' ? report.receipt.providerId : ''))),
    ).toEqual(new Set(ids))
  })

  test.each([
    ['00000020', 'throttled'],
    ['00000011', 'rejected'],
    ['00000088', 'throttled'],
  ])('a number ending in %s → %s', async (suffix, kind) => {
    const result = await openLine(smpp, settings()).send(testMessage({ recipient: `5531${suffix}` }))
    expect(result).toMatchObject({ ok: false, error: { kind } })
  })

  test('a wrong password', async () => {
    expect(await openLine(smpp, { ...settings(), password: 'no' }).send(testMessage())).toMatchObject({
      ok: false,
      error: { kind: 'misconfigured' },
    })
  })
})

describe('WhatsApp', () => {
  const settings = () => {
    const { baseUrl, wabaId, accessToken, appSecret, verifyToken } = sandbox.graph
    return { baseUrl, wabaId, accessToken, appSecret, verifyToken, phoneNumberId: '1001' }
  }
  const template = (
    name: string,
    more: Partial<Extract<MessageContent, { kind: 'template' }>>,
  ): MessageContent => ({
    kind: 'template',
    templateKind: 'text',
    name,
    language: 'pt_BR',
    parameterFormat: 'positional',
    body: [],
    buttons: [],
    preview: '',
    ...more,
  })
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
    'base64',
  )
  const picture = (hash: string) => ({
    name: `${hash}.png`,
    mimeType: 'image/png',
    source: { kind: 'stored' as const, hash, size: png.length },
  })
  const withPictures = (content: MessageContent, recipient: string, ...hashes: string[]) =>
    testMessage({
      recipient,
      content,
      files: new Map(
        hashes.map((hash) => [hash, { bytes: png, name: `${hash}.png`, mimeType: 'image/png' }]),
      ),
    })

  test('templates, a verification code, a carousel, pictures with a caption', async () => {
    const line = openLine(whatsappCloud, settings())
    sandbox.openWindow('1001', '5531996880001')
    const body = [
      { name: '1', value: 'Ana' },
      { name: '2', value: 'hoje' },
    ]
    const sent = [
      await line.send(testMessage({ recipient: '5531996880001', content: template('order', { body }) })),
      await line.send(
        testMessage({
          recipient: '5531996880001',
          content: template('code', {
            templateKind: 'verification',
            body: [{ name: 'Code', value: '123456' }],
            buttons: [{ index: 0, kind: 'code', value: '123456' }],
          }),
        }),
      ),
      await line.send(
        withPictures(
          template('offers', {
            templateKind: 'carousel',
            cards: ['a', 'b'].map((hash) => ({
              file: picture(hash),
              mediaKind: 'image' as const,
              body: [],
              buttons: [{ index: 0, kind: 'quick_reply' as const, value: hash }],
            })),
          }),
          '5531996880001',
          'a',
          'b',
        ),
      ),
      await line.send(
        withPictures(testText('olha', { files: [picture('a'), picture('b')] }), '5531996880001', 'a', 'b'),
      ),
    ]
    expect(sent.map((result) => (result.ok ? result.providerIds.length : result.error))).toEqual([1, 1, 1, 2])
    const texts = inboxOf('5531996880001').map(({ text }) => text)
    expect(texts).toEqual(expect.arrayContaining(['Olá Ana, chega hoje.', 'Novidades', 'olha', '']))
    expect(texts.some((text) => text.includes('123456'))).toBe(true)
  })

  test('lists the templates it knows', async () => {
    const templates = await openLine(whatsappCloud, settings()).listTemplates!()
    expect(templates.map(({ name }) => name).toSorted()).toEqual(['code', 'offers', 'order'])
  })

  test('hands in a template, then a change of it, and says what the provider refuses', async () => {
    const session = openLine(whatsappCloud, settings())
    const approvalOf = async (name: string) =>
      (await session.listTemplates!()).find((template) => template.name === name)?.approval
    const given = {
      name: 'fresh',
      language: 'en',
      category: 'UTILITY',
      parameter_format: 'POSITIONAL',
      components: [{ type: 'BODY', text: 'First' }],
    }
    const report = { name: 'fresh', language: 'en', approval: 'pending' }
    expect(await session.submitTemplate!(given)).toEqual({ ok: true, report })
    await expect.poll(() => approvalOf('fresh')).toBe('approved')
    const again = { ...given, components: [{ type: 'BODY', text: 'Second' }] }
    expect(await session.submitTemplate!(again)).toEqual({ ok: true, report })
    await expect.poll(() => approvalOf('fresh')).toBe('approved')
    const wrong = { ...given, name: 'wrong', components: [{ type: 'BODY', text: '{{1}} first' }] }
    expect(await session.submitTemplate!(wrong)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('cannot start or end with a variable') },
    })
  })

  test.each([
    [
      '5511987654321',
      template('order', {
        body: [
          { name: '1', value: 'a' },
          { name: '2', value: 'b' },
        ],
      }),
      'rejected',
      '131021',
    ],
    ['5531996880002', testText('no window'), 'invalid_message', '131047'],
    ['5531996880002', template('missing', {}), 'invalid_message', '132001'],
    ['5531996880002', template('order', { body: [] }), 'invalid_message', '132000'],
  ])('%s → %s', async (recipient, content, kind, code) => {
    const refused = await openLine(whatsappCloud, settings()).send(testMessage({ recipient, content }))
    expect(refused).toMatchObject({ ok: false, error: { kind, code } })
  })

  test('a wrong token', async () => {
    const refused = await openLine(whatsappCloud, { ...settings(), accessToken: 'no' }).send(testMessage())
    expect(refused).toMatchObject({ ok: false, error: { kind: 'misconfigured', code: '190' } })
  })

  test('its webhooks are signed, and carry our id back', async () => {
    const reports: LineReport[] = []
    const line = testLine(whatsappCloud, settings())
    const results: HookResult[] = []
    const port = await listen(
      createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const headers = Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
          )
          const result = whatsappCloud.hook!(line, {
            method: request.method!,
            url: request.url!,
            publicUrl: line.hookUrl,
            headers,
            rawBody: Buffer.concat(chunks),
          })
          results.push(result)
          if (result.ok) reports.push(...result.reports)
          const answer = result.ok
            ? (result.answer ?? { status: 200, body: '' })
            : { status: result.status, body: '' }
          response.writeHead(answer.status).end(answer.body)
        })
      }),
    )
    sandbox.configure({ webhookUrl: `http://127.0.0.1:${port}/` })
    const body = [
      { name: '1', value: 'Ana' },
      { name: '2', value: 'hoje' },
    ]
    const message = testMessage({ recipient: '5531996880003', content: template('order', { body }) })
    const sent = await openLine(whatsappCloud, settings()).send(message)
    await until('delivered', () =>
      reports.some(
        (report) =>
          report.kind === 'receipt' &&
          report.receipt.state === 'delivered' &&
          report.receipt.messageId === message.id,
      ),
    )
    expect(
      await openLine(whatsappCloud, settings()).send({ ...message, recipient: '5531900131026' }),
    ).toMatchObject({ ok: true })
    const failed = () =>
      reports.find((report) => report.kind === 'receipt' && report.receipt.state === 'failed')
    await until('told as failed', () => failed() !== undefined)
    expect(failed()).toMatchObject({ receipt: { messageId: message.id, error: { code: '131026' } } })
    expect(results.every(({ ok }) => ok)).toBe(true)
    // The tests before may still be told about: only what is said of this message counts.
    const own = reports.flatMap((report) => (report.kind === 'receipt' ? [report.receipt] : []))
    expect(own).toContainEqual(
      expect.objectContaining({ messageId: message.id, providerId: sent.ok ? sent.providerIds[0] : '' }),
    )
  })
})
