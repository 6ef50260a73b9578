import { describe, expect, test } from 'vitest'
import { channels } from '../../../src/domain/channel.ts'
import { createContact } from '../../../src/store/contacts.ts'
import { createLine } from '../../../src/store/lines.ts'
import { must, randomMobile, testSealer } from '../../harness/factories.ts'
import {
  bodies,
  countMessages,
  emailBody,
  expectAccepted,
  expectConflicts,
  expectInvalid,
  freshEmail,
  messageOf,
  smsBody,
  useDirect,
  whatsappBody,
} from './support.ts'

const d = useDirect()
const c = () => d.company
const noService =
  '{"result":"message validated but not sent: no sending service is configured for the channel"}'

describe('202: the message passed the rules engine and was queued', () => {
  test.for(channels)('%s', async (channel) => {
    const answer = await c().send(channel, bodies[channel]())
    expectAccepted(answer)
    const message = await messageOf(d.app, answer)
    expect(message).toMatchObject({ state: 'queued', channel, request_id: answer.headers['x-request-id'] })
    const outbox = await d.app.db.query('select 1 from outbox where message_id = $1', [message.id])
    expect(outbox).toHaveLength(1)
  })

  test('every answer carries its own X-Request-Id, and every message its own id', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => c().send('sms', smsBody())))
    expect(new Set(answers.map((answer) => answer.headers['x-request-id'])).size).toBe(20)
    expect(new Set(answers.map((answer) => answer.headers['pombo-message-id'])).size).toBe(20)
  })
})

describe('200: validated but not sent, because no enabled line exists for the channel', () => {
  test.for(channels)('%s', async (channel) => {
    const company = await d.newCompany({ channels: channels.filter((each) => each !== channel) })
    const answer = await company.send(channel, bodies[channel]())
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: noService })
    expect((await messageOf(d.app, answer)).state).toBe('not_sent')
  })

  test('a disabled line is none, and enabling one later sends nothing by surprise', async () => {
    const company = await d.newCompany()
    await d.app.db.query(`update line set is_enabled = false where company_id = $1 and channel = 'sms'`, [
      company.id,
    ])
    const answer = await company.send('sms', smsBody())
    expect(answer.status).toBe(200)
    await d.app.db.query('update line set is_enabled = true where company_id = $1', [company.id])
    const { id, state } = await messageOf(d.app, answer)
    expect(state).toBe('not_sent')
    expect(await d.app.db.query('select 1 from outbox where message_id = $1', [id])).toEqual([])
  })

  test('everything is still checked: 422 and 409 come first', async () => {
    const company = await d.newCompany({ channels: [] })
    expectInvalid(await company.send('sms', smsBody({ template_code: 'nobody' })), 'template_code')
    expectConflicts(await company.send('sms', smsBody({ template_code: 'disabled' })), /disabled/)
  })

  test('a line may list the segments it serves; no line for the segment is no sending service', async () => {
    const company = await d.newCompany({ channels: [] })
    const [first, second] = company.segments
    must(
      await createLine(
        d.app.db,
        testSealer,
        company.id,
        {
          name: 'For the first',
          channel: 'sms',
          countryCode: 55,
          phoneNumber: 31987659999,
          driver: 'smpp',
          isDefault: true,
          segmentIds: [first.id],
          settings: {},
        },
        [],
      ),
    )
    expectAccepted(await company.send('sms', smsBody({ segment: first.name })))
    expect((await company.send('sms', smsBody({ segment: second.name }))).status).toBe(200)
    expect((await company.send('sms', smsBody({ segment: undefined }))).status).toBe(200)
  })
})

describe('422 comes before 409', () => {
  test('a body that is wrong and a template that is disabled', async () => {
    expectInvalid(
      await c().send('sms', smsBody({ template_code: 'disabled', contract_code: '' })),
      'contract_code',
    )
  })
})

describe('a refused send', () => {
  test('is recorded as blocked with all its reasons, and changes nothing on the contact', async () => {
    const company = await d.newCompany()
    const answer = await company.send('sms', smsBody({ template_code: 'disabled' }))
    expect(answer.status).toBe(409)
    expect(answer.headers['pombo-message-id']).toBeUndefined()
    const rows = await d.app.db.query<{ state: string; reasons: unknown }>(
      'select state, reasons from message where company_id = $1',
      [company.id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]!.state).toBe('blocked')
    expect(JSON.stringify(rows[0]!.reasons)).toContain('is disabled')
    expect(await d.app.db.query('select 1 from contact where company_id = $1', [company.id])).toEqual([])
  })

  test('a bad request is logged and not recorded', async () => {
    const company = await d.newCompany()
    const answer = await company.send('sms', smsBody({ template_code: 'nobody' }))
    expect(await countMessages(d.app, company.id)).toBe(0)
    const wrongShape = await company.send('sms', {})
    expect(await countMessages(d.app, company.id)).toBe(0)
    for (const { headers } of [answer, wrongShape])
      expect(d.app.logLines.some((line) => line.includes(headers['x-request-id']!))).toBe(true)
  })
})

describe('direct sends create contacts, but never overwrite', () => {
  test('a new one, with the document number as tax id', async () => {
    const phone = randomMobile()
    expectAccepted(await c().send('sms', smsBody({ recipient_number: phone, document_number: '111' })))
    expectAccepted(
      await c().send('whatsapp', whatsappBody({ recipient_number: phone, document_number: '222' })),
    )
    const rows = await d.app.db.query('select tax_id from contact where company_id = $1 and phone_key = $2', [
      c().id,
      phone,
    ])
    expect(rows).toEqual([{ tax_id: '111' }])
  })

  test('one that exists stays as it is, and has an interaction', async () => {
    const email = freshEmail()
    must(await createContact(d.app.db, c().id, { email, name: 'Ana', taxId: 'old' }))
    expectAccepted(await c().send('email', emailBody({ recipient_email: email, document_number: 'new' })))
    const [row] = await d.app.db.query(
      'select name, tax_id, last_interaction_at is not null as "hasInteraction" from contact where company_id = $1 and email_key = $2',
      [c().id, email],
    )
    expect(row).toEqual({ name: 'Ana', tax_id: 'old', hasInteraction: true })
  })
})
