/**
 * Hostile texts sent through both APIs and really delivered, over SMTP, SMPP and the Cloud API: each arrives as the
 * text that it is, at the one person it was for. Subjects, template variables, file names and data of contacts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseId } from '../../src/lib/ids.ts'
import type { SandboxMessage } from '../../src/sandbox/types.ts'
import { makeContact, openWindows, randomMobile, type TestCompany } from '../harness/factories.ts'
import { hostileFileNames, hostileTexts, lineBreakTexts, xssTexts } from '../harness/hostile-texts.ts'
import { request, until, type Answer } from '../harness/http.ts'
import { slow } from './fuzz.ts'
import { phoneNumberId, sandboxSettings, startFullRun, type FullRun } from './full-run.ts'

let run: FullRun
let company: TestCompany
let token = ''
const digits = randomMobile()

beforeAll(async () => {
  run = await startFullRun()
  const settings = sandboxSettings(run.sandbox)
  company = await run.whole.makeCompany({
    lines: [
      {
        name: 'Mail',
        channel: 'email',
        email: 'sender@company.example',
        driver: 'smtp',
        isDefault: true,
        settings: settings.smtp,
      },
      {
        name: 'SMS',
        channel: 'sms',
        countryCode: 55,
        phoneNumber: 31987650001,
        driver: 'smpp',
        isDefault: true,
        settings: settings.smpp,
      },
      {
        name: 'WhatsApp',
        channel: 'whatsapp',
        countryCode: 55,
        phoneNumber: 31987650002,
        driver: 'whatsapp-cloud',
        isDefault: true,
        settings: settings['whatsapp-cloud'],
      },
    ],
  })
  const contact = await makeContact(run.whole.db, company.id, { phone: digits })
  await openWindows(run.whole.db, contact, company.lines.whatsapp, run.whole.clock.now())
  run.sandbox.openWindow(phoneNumberId, digits)
  const login = await request(`${run.whole.url}/v1/login`, {
    body: { Company: company.name, Username: company.apiUser.name, Password: company.apiUser.password },
  })
  token = String(login.body['access_token'])
}, 120_000)
afterAll(() => run.stop())

const unified = (body: object): Promise<Answer> =>
  request(`${run.whole.url}/v1/sendmessage`, {
    headers: { authorization: `Bearer ${token}` },
    body: { platformPrivateToken: company.privateToken, text: 'Hello', ...body },
  })

const direct = (channel: string, body: object): Promise<Answer> =>
  request(`${run.whole.url}/v1/directmessage/${channel}`, {
    headers: { authorization: `Bearer ${company.directToken.token}` },
    body: { contract_code: 'C', ...body },
  })

const received = (): SandboxMessage[] =>
  [...run.sandbox.inbox.all()].filter(({ direction }) => direction === 'toPerson')

/** All that were accepted have arrived, and none besides. */
async function arrived(before: number, count: number): Promise<SandboxMessage[]> {
  await until(
    'everything has left',
    async () =>
      (await run.whole.db.query(`select 1 from message where state in ('queued', 'sending') limit 1`))
        .length === 0,
    60_000,
  )
  const failed = await run.whole.db.query(`select error_message from message where state = 'failed'`)
  expect(failed).toEqual([])
  const fresh = received().slice(before)
  expect(fresh).toHaveLength(count)
  return fresh
}

/** The header of a mail as it went over the wire, one line each, folded ones joined. */
const headersOf = (source: string): string[] =>
  source
    .slice(0, source.search(/\r?\n\r?\n/))
    .replaceAll(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)

const usual =
  /^(received|return-path|from|to|subject|message-id|date|mime-version|content-type|content-transfer-encoding|x-[a-z-]*envelope[a-z-]*):/i

const sourceOf = ({ id }: SandboxMessage): string => run.sandbox.inbox.raw(id)!.toString('latin1')

test('e-mail: subjects, variables and names end in their header, whatever they hold', slow, async () => {
  const before = received().length
  let accepted = 0
  const texts = { ...lineBreakTexts, ...xssTexts }
  for (const [name, text] of Object.entries(texts)) {
    const subject = await unified({
      channel: 1,
      emailSubject: text,
      destination: { email: 'ana@example.com' },
    })
    // A line break in a subject is refused where it is given; other spaces are made harmless where it is written.
    if (/[\r\n]/.test(text)) expect(subject.status, name).toBe(400)
    else if (subject.status === 200) accepted++
    const variable = await direct('email', {
      recipient_email: 'ana@example.com',
      template_code: 'plain-email',
      variable_values: { Topic: text, Name: text },
    })
    expect(variable.status, `${name}: ${variable.text}`).toBe(202)
    accepted++
    const recipient = await direct('email', {
      recipient_email: `ana@example.com${text}`,
      template_code: 'plain-email',
      variable_values: { Topic: 'x', Name: 'x' },
    })
    expect(recipient.status, name).toBe(422)
  }
  for (const message of await arrived(before, accepted)) {
    const headers = headersOf(sourceOf(message))
    for (const header of headers) expect(header).toMatch(usual)
    expect(headers.filter((header) => /^(to|subject|bcc|cc):/i.test(header))).toHaveLength(2)
    expect(headers.find((header) => /^to:/i.test(header))).toMatch(/^to: <?ana@example\.com>?$/i)
    expect(headers.join('\n')).not.toMatch(/^(x-injected|bcc)/im)
    expect(message.to).toContain('ana@example.com')
  }
})

test('e-mail: a file keeps to its part, whatever its name', slow, async () => {
  const before = received().length
  let accepted = 0
  for (const [name, fileName] of Object.entries(hostileFileNames)) {
    const answer = await unified({
      channel: 1,
      emailSubject: 'A file',
      destination: { email: 'ana@example.com' },
      files: [{ name: fileName, base64: Buffer.from('content').toString('base64') }],
    })
    expect([200, 400], `${name}: ${answer.text}`).toContain(answer.status)
    if (answer.status === 200) accepted++
  }
  expect(accepted).toBeGreaterThan(5)
  for (const message of await arrived(before, accepted)) {
    const source = sourceOf(message)
    for (const header of headersOf(source)) expect(header).toMatch(usual)
    expect(source).not.toMatch(/^content-type: text\/html/im)
    expect(message.email?.attachments ?? []).toHaveLength(1)
    expect(message.email?.attachments[0]).toMatchObject({ mimeType: 'image/png', size: 7 })
    expect(message.email?.attachments[0]!.filename).not.toMatch(/[/\\\p{Cc}]/u)
  }
})

test('e-mail: values are escaped where they land in HTML', slow, async () => {
  const before = received().length
  for (const text of Object.values(xssTexts)) {
    const answer = await unified({
      channel: 1,
      text: '<p>Dear @Name</p>',
      emailSubject: 'Hi',
      destination: { email: 'ana@example.com' },
      contact: { name: text.slice(0, 255) },
    })
    expect(answer.status, answer.text).toBe(200)
  }
  const rows = await run.whole.db.query<{ text: string }>(
    `select content->>'text' as text from message where content->>'text' like '<p>Dear%'`,
  )
  expect(rows).toHaveLength(Object.keys(xssTexts).length)
  // The only markup is the caller's own.
  for (const { text } of rows) expect(text).toMatch(/^<p>Dear [^<>]*<\/p>$/)
  await arrived(before, rows.length)
})

test('SMS: one message to one number, with the text as it is', slow, async () => {
  const before = received().length
  const texts = Object.values(hostileTexts).filter(
    (text) =>
      text.length < 300 &&
      text.trim() !== '' &&
      !text.includes('\0') &&
      text.isWellFormed() &&
      !text.includes('@'),
  )
  let accepted = 0
  for (const text of texts) {
    const answer = await unified({
      channel: 2,
      text,
      destination: { countryCode: 55, phoneNumber: Number(digits.slice(2)) },
    })
    expect(answer.status, `${JSON.stringify(text)} ${answer.text}`).toBe(200)
    accepted++
  }
  const fresh = await arrived(before, accepted)
  for (const message of fresh) expect(message.to.replaceAll(/\D/g, '')).toBe(digits)
  expect(fresh.map(({ text }) => text).toSorted()).toEqual(texts.toSorted())
  // Neither sender nor recipient can be given another meaning.
  for (const text of Object.values(lineBreakTexts)) {
    const answer = await direct('sms', {
      recipient_number: `5531987654321${text}`,
      template_code: 'fixed-sms',
    })
    expect(answer.status).toBe(422)
  }
})

test('WhatsApp: a text is a text, and its window is that of one number', slow, async () => {
  const before = received().length
  const texts = Object.values({ ...xssTexts, ...lineBreakTexts }).filter((text) => !text.includes('@'))
  for (const text of texts) {
    const answer = await unified({
      channel: 3,
      text,
      destination: { countryCode: 55, phoneNumber: Number(digits.slice(2)) },
    })
    expect(answer.status, answer.text).toBe(200)
    expect(parseId('msg', String(answer.body['messageId']))).toBeDefined()
  }
  const fresh = await arrived(before, texts.length)
  for (const message of fresh) {
    expect(message.to.replaceAll(/\D/g, '')).toBe(digits)
    expect(message.whatsapp?.type).toBe('text')
  }
  expect(fresh.map(({ text }) => text).toSorted()).toEqual(texts.toSorted())
})
