/** Providers' hooks: whatever a provider that can prove itself sends, and whatever anybody else does. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonSchema } from '../../src/http/docs/openapi.ts'
import { signatureOf } from '../../src/drivers/twilio/signature.ts'
import { showId } from '../../src/lib/ids.ts'
import type { TestCompany } from '../harness/factories.ts'
import { hostileTexts } from '../harness/hostile-texts.ts'
import { storeMessage } from '../harness/messages.ts'
import { wiresOf, type Hints } from '../harness/schema-bodies.ts'
import { startWhole, type Whole } from '../harness/whole.ts'
import { expectAllDocumented, faultsOf, fire, sample, slow, tally, type Shot } from './fuzz.ts'

let whole: Whole
let company: TestCompany
let messageId = ''

const whatsapp = { phoneNumberId: '100', accessToken: 'a', appSecret: 'app secret', verifyToken: 'verify' }
const twilio = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'auth token' }
const broker = {
  url: 'https://broker.example/send',
  hookFormat: 'json',
  hookListPath: 'results',
  hookIdPath: 'id',
  hookOwnIdPath: 'own',
  hookStatusPath: 'status',
  hookErrorCodePath: 'error.code',
  hookErrorTextPath: 'error.text',
  hookTimePath: 'at',
  inboundFromPath: 'from',
  inboundTextPath: 'text',
  deliveredStatuses: 'DELIVRD',
  failedStatuses: 'UNDELIV',
  hookVerification: 'url',
  hookSecret: 'hook secret',
}
const publicUrl = 'https://pombo.example'

beforeAll(async () => {
  whole = await startWhole({ config: { publicUrl } })
  company = await whole.makeCompany({
    lines: [
      {
        name: 'A',
        channel: 'whatsapp',
        countryCode: 55,
        phoneNumber: 31987650001,
        driver: 'whatsapp-cloud',
        settings: whatsapp,
      },
      {
        name: 'B',
        channel: 'sms',
        countryCode: 55,
        phoneNumber: 31987650002,
        driver: 'twilio',
        settings: twilio,
      },
      {
        name: 'C',
        channel: 'sms',
        countryCode: 55,
        phoneNumber: 31987650003,
        driver: 'sms-http',
        settings: broker,
      },
    ],
  })
  const stored = await storeMessage(whole.db, company, { channel: 'whatsapp', providerIds: ['wamid.1'] })
  messageId = showId('msg', stored.id)
})
afterAll(() => whole.stop())

const error = {
  content: {
    'application/json': {
      schema: { properties: { message: {}, requestId: {} }, required: ['message', 'requestId'] },
    },
  },
}
/** What a hook may answer; a fault of ours is never one of them. */
const operation = {
  responses: Object.fromEntries(
    ['200', '400', '401', '403', '404', '413', '415', '503'].map((status) => [
      status,
      { description: '', ...(status !== '200' && error) },
    ]),
  ),
} as Shot['operation']

const pathOf = (driver: string, line: { id: string }) => `/hooks/${driver}/${showId('lin', line.id)}`

const text: JsonSchema = { type: 'string' }
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** As the Cloud API documents its webhook. */
const webhook = object({
  object: text,
  entry: list(
    object({
      id: text,
      changes: list(
        object({
          field: text,
          value: object({
            metadata: object({ phone_number_id: text }),
            contacts: list(object({ wa_id: text, profile: object({ name: text }) })),
            statuses: list(
              object({
                id: text,
                status: text,
                timestamp: text,
                biz_opaque_callback_data: text,
                errors: list(object({ code: text, title: text, error_data: object({ details: text }) })),
              }),
            ),
            messages: list(
              object({
                id: text,
                from: text,
                timestamp: text,
                type: text,
                text: object({ body: text }),
                image: object({ id: text, mime_type: text, filename: text, caption: text }),
                context: object({ id: text }),
              }),
            ),
            event: text,
            message_template_name: text,
            message_template_language: text,
          }),
        }),
      ),
    }),
  ),
})

const hostile = fc.constantFrom(...Object.values(hostileTexts))
const some = (...values: unknown[]) => fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...values) }, hostile)

const webhookHints = (): Hints => ({
  field: some('messages', 'messages', 'messages', 'message_template_status_update', 'user_preferences'),
  phone_number_id: some('100', '100', '999'),
  status: some('sent', 'delivered', 'read', 'failed', 'constructor', '__proto__'),
  id: some('wamid.1', 'wamid.2', 1e308),
  biz_opaque_callback_data: some(messageId, 'msg_'),
  timestamp: some('1767225600', '-1', '99999999999999999999', 'NaN', 1e308),
  type: some('text', 'image', 'constructor', 'location', 'contacts', 'interactive'),
  from: some('5531987654321', '+55 31', '0'.repeat(400)),
  code: some(131026, 131050, '__proto__'),
})

test('a webhook that is signed', slow, async () => {
  const path = pathOf('whatsapp-cloud', company.lines.whatsapp[0]!)
  const shots = sample(wiresOf(webhook, webhookHints()), 250).map(({ how, bytes, contentType }): Shot => {
    const signature = createHmac('sha256', whatsapp.appSecret).update(bytes).digest('hex')
    const headers = { 'content-type': contentType, 'x-hub-signature-256': `sha256=${signature}` }
    return { name: how, method: 'POST', path, headers, body: bytes, operation }
  })
  const landed = await fire(whole, shots)
  expectAllDocumented(landed)
  expect(tally(landed)[200], 'most are taken').toBeGreaterThan(100)
  expect(faultsOf(whole)).toEqual([])
})

test('a report of Twilio that is signed', slow, async () => {
  const path = pathOf('twilio', company.lines.sms[0]!)
  const fields = fc.record(
    {
      MessageStatus: some('delivered', 'failed', 'received', 'constructor'),
      MessageSid: some('SM1', 'SM2'),
      From: some('+5531987654321', ''),
      Body: some('Hello', 'STOP'),
      NumMedia: some('0', '2', '1e9', '-1', 'NaN'),
      MediaUrl0: some('http://127.0.0.1/x', 'https://api.twilio.com/x'),
      MediaContentType0: some('image/png', 'text/html\r\nX: y'),
      ErrorCode: some('21610', '30003'),
    },
    { requiredKeys: [] },
  )
  const query = fc.constantFrom('', `?id=${messageId}`, '?id=%00', '?id=x&id=y', '?__proto__=1')
  const shots = sample(fc.tuple(fields, query), 120).map(([given, asked]): Shot => {
    const form = new URLSearchParams(Object.entries(given) as [string, string][])
    const signature = signatureOf(twilio.authToken, publicUrl + path + asked, form).toString('base64')
    return {
      name: 'form',
      method: 'POST',
      path: path + asked,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': signature,
      },
      body: Buffer.from(form.toString()),
      operation,
    }
  })
  const landed = await fire(whole, shots)
  expectAllDocumented(landed)
  expect(tally(landed)[200], 'most are taken').toBeGreaterThan(80)
  expect(faultsOf(whole)).toEqual([])
})

const report = object({
  results: list(
    object({
      id: text,
      own: text,
      status: text,
      at: text,
      from: text,
      text,
      error: object({ code: text, text }),
    }),
  ),
})

test('a report of any broker that knows the secret', slow, async () => {
  const path = `${pathOf('sms-http', company.lines.sms[1]!)}?secret=${encodeURIComponent(broker.hookSecret)}`
  const hints: Hints = {
    status: some('DELIVRD', 'UNDELIV', 'constructor'),
    own: some(messageId, '__proto__'),
    at: some('1767225600', '9999999999999', '2026-01-01T00:00:00Z', '99999-99-99Z'),
    from: some('5531987654321', 'x'),
  }
  const shots = sample(wiresOf(report, hints), 120).map(({ how, bytes, contentType }): Shot => ({
    name: how,
    method: 'POST',
    path,
    headers: { 'content-type': contentType },
    body: bytes,
    operation,
  }))
  const landed = await fire(whole, shots)
  expectAllDocumented(landed)
  expect(tally(landed)[200], 'most are taken').toBeGreaterThan(60)
  expect(faultsOf(whole)).toEqual([])
})

test('nobody else is listened to, and what providers sent is still what it was', slow, async () => {
  const before = await whole.db.query('select state from message where company_id = $1', [company.id])
  const paths = [
    pathOf('whatsapp-cloud', company.lines.whatsapp[0]!),
    pathOf('twilio', company.lines.sms[0]!),
    pathOf('sms-http', company.lines.sms[1]!),
    pathOf('smpp', company.lines.sms[0]!),
    '/hooks/constructor/lin_x',
    '/hooks/__proto__/__proto__',
    `/hooks/whatsapp-cloud/${encodeURIComponent("'; drop table line; --")}`,
  ]
  const proofs: Record<string, string>[] = [
    {},
    { 'x-hub-signature-256': 'sha256=' },
    { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
    { 'x-twilio-signature': 'AAAA' },
    { authorization: 'Basic Og==' },
  ]
  const shots = paths.flatMap((path) =>
    proofs.flatMap((headers) =>
      ['GET', 'POST'].map((method): Shot => ({
        name: JSON.stringify(headers),
        method,
        path:
          method === 'GET' ? `${path}?hub.mode=subscribe&hub.verify_token=x&hub.challenge=<script>` : path,
        headers,
        ...(method === 'POST' && { body: Buffer.from('{"entry":[{"changes":[{"field":"messages"}]}]}') }),
        operation,
      })),
    ),
  )
  const landed = await fire(whole, shots)
  expectAllDocumented(landed)
  expect(Object.keys(tally(landed)).filter((status) => status === '200')).toEqual([])
  expect(await whole.db.query('select state from message where company_id = $1', [company.id])).toEqual(
    before,
  )
})
