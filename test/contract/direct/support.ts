/** What the contract tests of the Direct Message API share: one app and company per file, bodies that pass. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { Channel } from '../../../src/domain/channel.ts'
import type { MessageContent } from '../../../src/domain/message.ts'
import { parseId } from '../../../src/lib/ids.ts'
import { startApp, type App, type AppOptions } from '../../harness/app.ts'
import { randomMobile, type CompanyOverrides, type TestCompany } from '../../harness/factories.ts'
import { request, type Answer, type RequestOptions } from '../../harness/http.ts'

export type Body = Record<string, unknown>

export type SendOptions = Omit<RequestOptions, 'body'> & {
  /** Of the first node unless said otherwise. */
  url?: string
  token?: string
}

export type DirectCompany = TestCompany & {
  send(channel: Channel, body: unknown, options?: SendOptions): Promise<Answer>
}

export type Direct = {
  readonly app: App
  readonly company: DirectCompany
  newCompany(overrides?: CompanyOverrides): Promise<DirectCompany>
}

export function useDirect(options: AppOptions = {}): Direct {
  let app: App | undefined
  let company: DirectCompany | undefined
  const newCompany = async (overrides?: CompanyOverrides) => {
    const made = await app!.makeCompany(overrides)
    const send: DirectCompany['send'] = (channel, body, { url, token, headers, ...rest } = {}) =>
      request(`${url ?? app!.nodes[0]!.directUrl}/v1/directmessage/${channel}`, {
        method: 'POST',
        ...rest,
        body,
        headers: { authorization: `Bearer ${token ?? made.directToken.token}`, ...headers },
      })
    return { ...made, send }
  }
  beforeAll(async () => {
    app = await startApp(options)
    company = await newCompany()
  })
  afterAll(() => app?.stop())
  return {
    get app() {
      return app!
    },
    get company() {
      return company!
    },
    newCompany,
  }
}

let people = 0
export const freshEmail = (): string => `person${++people}.${Date.now()}@example.com`

export const emailBody = (changes: Body = {}): Body => ({
  recipient_email: freshEmail(),
  variable_values: { OrderNumber: '77', Amount: 'R$ 10' },
  document_number: '123.456.789-09',
  contract_code: 'CT-1',
  template_code: 'order-confirmation',
  segment: 'First segment',
  ...changes,
})

export const smsBody = (changes: Body = {}): Body => ({
  recipient_number: randomMobile(),
  variable_values: { Date: '1 May', Time: '10:00' },
  document_number: '123.456.789-09',
  contract_code: 'CT-1',
  template_code: 'appointment-reminder',
  segment: 'First segment',
  flash_sms: false,
  ...changes,
})

export const whatsappBody = (changes: Body = {}): Body => ({
  recipient_number: randomMobile(),
  variables: {
    header_key: 'InvoiceNumber',
    header_value: '4711',
    body: { Amount: 'R$ 10', DueDate: '1 May' },
  },
  document_number: '123.456.789-09',
  contract_code: 'CT-1',
  template_code: 'invoice',
  segment: 'First segment',
  ...changes,
})

export const bodies: Record<Channel, (changes?: Body) => Body> = {
  email: emailBody,
  sms: smsBody,
  whatsapp: whatsappBody,
}

/** 202 and the one field of success. */
export function expectAccepted(answer: Answer): void {
  expect({ status: answer.status, text: answer.text }).toEqual({
    status: 202,
    text: '{"result":"message is being processed"}',
  })
  expect(answer.headers['pombo-message-id']).toMatch(/^msg_[0-9a-f]{32}$/)
  expect(answer.headers['x-request-id']).toMatch(/\S/)
}

/** 422 with all five fields, whose `errors` names exactly these paths. */
export function expectInvalid(answer: Answer, ...paths: string[]): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 422 })
  expectRefusalBody(answer)
  const errors = answer.body['errors'] as Record<string, string[]>
  expect(Object.keys(errors).toSorted()).toEqual(paths.toSorted())
  for (const sentences of Object.values(errors)) {
    expect(sentences.length).toBeGreaterThan(0)
    for (const sentence of sentences) expect(sentence).toMatch(/\S/)
  }
  expect(answer.body['conflicts']).toEqual([])
}

/** 409 with all five fields and exactly these conflicts, in this order. */
export function expectConflicts(answer: Answer, ...conflicts: (string | RegExp)[]): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 409 })
  expectRefusalBody(answer)
  expect(answer.body['errors']).toEqual({})
  expect(answer.body['conflicts']).toEqual(
    conflicts.map((conflict) => (typeof conflict === 'string' ? conflict : expect.stringMatching(conflict))),
  )
}

function expectRefusalBody(answer: Answer): void {
  const { verdict: _, ...body } = answer.body
  expect(Object.keys(body)).toEqual(['message', 'errors', 'record_errors', 'conflicts', 'requestId'])
  expect(body['message']).toMatch(/\S/)
  expect(body['record_errors']).toEqual([])
  expect(body['requestId']).toBe(answer.headers['x-request-id'])
  expect(answer.headers['content-type']).toMatch(/^application\/json/)
}

export function expectEmpty(answer: Answer, status: 401 | 403): void {
  expect({ status: answer.status, text: answer.text }).toEqual({ status, text: '' })
  expect(answer.headers['content-type']).toBeUndefined()
  expect(answer.headers['x-request-id']).toMatch(/\S/)
}

export type StoredMessage = {
  id: string
  state: string
  channel: Channel
  recipient: string
  line_id: string | null
  segment_id: string | null
  contact_id: string | null
  contract_code: string | null
  document_number: string | null
  request_id: string
  content: MessageContent
  callback: { url: string; customFields: Record<string, string> } | null
  reasons: unknown
}

export async function messageOf(app: App, answer: Answer): Promise<StoredMessage> {
  const id = parseId('msg', answer.headers['pombo-message-id'] ?? '')
  const [row] = await app.db.query<StoredMessage>('select * from message where id = $1', [id])
  if (!row) throw new Error(`No message for ${answer.status} ${answer.text}`)
  return row
}

export async function countMessages(app: App, companyId: string): Promise<number> {
  const [row] = await app.db.query<{ count: number }>(
    'select count(*) as count from message where company_id = $1',
    [companyId],
  )
  return row!.count
}
