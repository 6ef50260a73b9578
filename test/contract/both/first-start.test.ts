import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { request } from '../../harness/http.ts'
import { startProgram, type Program } from '../../harness/program.ts'
import { expectAccepted, expectRefused, freshPhone, messages, type Body } from '../unified/support.ts'

// Two whole programs side by side: one on a database that the test can look into, one as it comes.
let database: TestDatabase
let folder: string
let first: Program
let second: Program
let quickstart: Quickstart

const env = { POMBO_SERVING_PROCESSES: '1' }
const startFirst = () =>
  startProgram({ dataDir: join(folder, 'first'), env: { ...env, DATABASE_URL: database.url } })

beforeAll(async () => {
  database = await createTestDatabase(2)
  folder = await mkdtemp(join(tmpdir(), 'pombo-first-start-'))
  ;[first, second] = await Promise.all([startFirst(), startProgram({ env })])
  quickstart = await read(first)
}, 120_000)

afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop()])
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
}, 120_000)

type Phone = { countryCode: number; phoneNumber: number }
type Quickstart = {
  unified: Record<'baseUrl' | 'company' | 'username' | 'password' | 'platformPrivateToken', string>
  direct: Record<'baseUrl' | 'token' | 'callbackSecret', string>
  console: Record<'url' | 'company' | 'username' | 'password', string>
  lines: ({ channel: string; prospect: boolean; default: boolean; email?: string } & Partial<Phone>)[]
  templates: {
    name: string
    code: string
    channel: string
    kind: string
    variables: string[]
    headerVariable?: string
    cards?: number
  }[]
  segments: { name: string; clientCode: string }[]
  attendants: string[]
  contacts: { windowOpen: Phone; inAttendance: Phone }
  restricted: { phone: string; lists: number }
  media: { url: string }[]
  sandbox: { url: string }
}

const read = async (program: Program): Promise<Quickstart> =>
  JSON.parse(await readFile(join(program.dataDir, 'quickstart.json'), 'utf8')) as Quickstart

const contactVariables = new Set(
  'name firstname lastname phone email id customcode tag wallet attendant company joker1 joker2 joker3 joker4 joker5'.split(
    ' ',
  ),
)

let token: Promise<string> | undefined
const logIn = async (): Promise<string> => {
  const { company, username, password, baseUrl } = quickstart.unified
  const answer = await request(`${baseUrl}/v1/login`, {
    body: { Company: company, Username: username, Password: password },
  })
  expect(answer.status).toBe(200)
  return String(answer.body['access_token'])
}
const send = async (body: Body) =>
  request(`${quickstart.unified.baseUrl}/v1/sendmessage`, {
    body: { platformPrivateToken: quickstart.unified.platformPrivateToken, text: '', ...body },
    headers: { authorization: `Bearer ${await (token ??= logIn())}` },
  })

const templateOf = (channel: string, kind = 'text') =>
  quickstart.templates.find((template) => template.channel === channel && template.kind === kind)!
const parametersFor = (template: { variables: string[] }) =>
  template.variables.map((parameterName) => ({ parameterName, parameterValue: '7' }))

describe('the first start on an empty data folder', () => {
  test('writes quickstart.json for its owner alone', async () => {
    for (const program of [first, second]) {
      const facts = await stat(join(program.dataDir, 'quickstart.json'))
      expect(facts.mode & 0o777).toBe(0o600)
    }
  })

  test('says where the file is, and no secret, when nobody sits at a terminal', async () => {
    const said = JSON.stringify(first.lines.all)
    expect(said).toContain('quickstart.json')
    for (const secret of secretsOf(quickstart)) expect(said).not.toContain(secret)
  })

  test('answers 200 at /health/ready once everything serves', async () => {
    for (const program of [first, second])
      expect((await request(`${program.baseUrl}/health/ready`)).status).toBe(200)
  })

  test('makes secrets that no other machine has', async () => {
    const others = secretsOf(await read(second))
    for (const secret of secretsOf(quickstart)) {
      expect(secret.length).toBeGreaterThanOrEqual(16)
      expect(others).not.toContain(secret)
    }
  })

  test('takes free ports for the sandbox, so that two run side by side', async () => {
    expect((await read(second)).sandbox.url).not.toBe(quickstart.sandbox.url)
    for (const { sandbox } of [quickstart, await read(second)])
      expect((await request(`${sandbox.url}/`)).status).toBeLessThan(500)
  })
})

const secretsOf = ({ unified, direct, console }: Quickstart): string[] => [
  unified.password,
  unified.platformPrivateToken,
  direct.token,
  direct.callbackSecret,
  console.password,
]

describe('quickstart.json', () => {
  test('has the parts that scripts count on', () => {
    const text = expect.any(String)
    const integer = expect.any(Number)
    expect(quickstart).toEqual({
      unified: { baseUrl: text, company: text, username: text, password: text, platformPrivateToken: text },
      direct: { baseUrl: text, token: text, callbackSecret: text },
      console: { url: text, company: text, username: text, password: text },
      lines: expect.any(Array),
      templates: expect.any(Array),
      segments: expect.any(Array),
      attendants: expect.any(Array),
      contacts: {
        windowOpen: { countryCode: integer, phoneNumber: integer },
        inAttendance: { countryCode: integer, phoneNumber: integer },
      },
      restricted: { phone: expect.stringMatching(/^55\d{2}9\d{8}$/), lists: 2 },
      media: expect.any(Array),
      sandbox: { url: text },
    })
  })

  test('has base addresses without a slash at the end, on this port', () => {
    for (const url of [quickstart.unified.baseUrl, quickstart.direct.baseUrl, quickstart.console.url])
      expect(url).toBe(first.baseUrl)
    expect(quickstart.sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  test('has two prospect lines of WhatsApp and one that is none, an SMS line and an e-mail account', () => {
    const of = (channel: string) => quickstart.lines.filter((line) => line.channel === channel)
    expect(of('whatsapp').filter((line) => line.prospect).length).toBeGreaterThanOrEqual(2)
    expect(of('whatsapp').filter((line) => !line.prospect).length).toBeGreaterThanOrEqual(1)
    for (const channel of ['whatsapp', 'sms', 'email'])
      expect(of(channel).filter((line) => line.default)).toHaveLength(1)
    for (const line of [...of('whatsapp'), ...of('sms')]) {
      expect(Number.isSafeInteger(line.countryCode)).toBe(true)
      expect(Number.isSafeInteger(line.phoneNumber)).toBe(true)
    }
    for (const line of of('email')) expect(line.email).toMatch(/@/)
  })

  test.for(['whatsapp', 'sms', 'email'])(
    'has a text template of %s with a variable that is no contact variable',
    (channel) => {
      const templates = quickstart.templates.filter((one) => one.channel === channel && one.kind === 'text')
      expect(
        templates.some((one) => one.variables.some((name) => !contactVariables.has(name.toLowerCase()))),
      ).toBe(true)
    },
  )

  test('has bare names of variables', () => {
    for (const template of quickstart.templates)
      for (const name of template.variables) expect(name).toMatch(/^[\p{L}\p{N}_]+$/u)
  })

  test('has a carousel with as many media items as cards, and a verification template with Code alone', () => {
    expect(quickstart.media.length).toBeGreaterThanOrEqual(templateOf('whatsapp', 'carousel').cards!)
    expect(templateOf('whatsapp', 'verification').variables).toEqual(['Code'])
    for (const { url } of quickstart.media) expect(url).toMatch(/^http.*\.[a-z0-9]+$/)
  })

  test('has a template whose variables jokers fill', () => {
    expect(quickstart.templates.some((one) => one.variables.includes('1'))).toBe(true)
  })

  test('has two segments and an attendant', () => {
    expect(quickstart.segments.length).toBeGreaterThanOrEqual(2)
    expect(quickstart.attendants.length).toBeGreaterThanOrEqual(1)
  })

  test('uses no number that starts +55 11 90 or 91', async () => {
    expect(JSON.stringify(quickstart)).not.toMatch(/551190|551191|"phoneNumber":119[01]/)
    const [row] = await database.db.query<{ count: number }>(
      "select count(*) as count from contact where phone ~ '^\\+?55119[01]'",
    )
    expect(row!.count).toBe(0)
  })
})

describe('what the file names works', () => {
  test.for(['whatsapp', 'sms'] as const)('the template of %s', async (channel) => {
    const template = templateOf(channel)
    expectAccepted(
      await send({
        channel: channel === 'sms' ? 2 : 3,
        templateName: template.name,
        templateParameters: parametersFor(template),
        destination: freshPhone(),
        contact: { name: 'Ana Lima', walletClientCode: quickstart.segments[0]!.clientCode },
      }),
    )
  })

  test('the template of e-mail', async () => {
    const template = templateOf('email')
    expectAccepted(
      await send({
        channel: 1,
        templateName: template.name,
        templateParameters: parametersFor(template),
        destination: { email: 'ana@example.com' },
        contact: { name: 'Ana Lima' },
      }),
    )
  })

  test('the carousel with the media, and the verification code', async () => {
    const carousel = templateOf('whatsapp', 'carousel')
    expectAccepted(
      await send({
        channel: 3,
        templateName: carousel.name,
        templateParameters: quickstart.media
          .slice(0, carousel.cards)
          .map(({ url }, index) => ({ parameterName: `picture ${index}`, parameterValue: url })),
        destination: freshPhone(),
        contact: { name: 'Ana Lima' },
      }),
    )
    expectAccepted(
      await send({
        channel: 3,
        templateName: templateOf('whatsapp', 'verification').name,
        templateParameters: [{ parameterName: 'Code', parameterValue: '123456' }],
        destination: freshPhone(),
      }),
    )
  })

  test('the contact with an open window takes free text', async () => {
    expectAccepted(await send({ channel: 3, text: 'Hello', destination: quickstart.contacts.windowOpen }))
  })

  test('the contact in attendance is discarded when asked for', async () => {
    const destination = quickstart.contacts.inAttendance
    const answer = await send({ channel: 2, text: 'x', destination, discardSettings: { InAttendance: true } })
    expectRefused(answer, messages.inAttendance)
  })

  test.for([2, 3])('the restricted number is refused by two lists on channel %i', async (channel) => {
    const phone = quickstart.restricted.phone
    const template = templateOf(channel === 2 ? 'sms' : 'whatsapp')
    const answer = await send({
      channel,
      templateName: template.name,
      templateParameters: parametersFor(template),
      destination: { countryCode: 55, phoneNumber: Number(phone.slice(2)) },
      contact: { name: 'Ana Lima' },
    })
    expect(answer.status).toBe(400)
    const message = String(answer.body['message'])
    expect(message).toMatch(/^message not sent: /)
    expect(message.split('; ')).toHaveLength(2)
  })

  test.for([1, 2])(
    'nothing else restricts, caps or delays: ten messages to one person on channel %i',
    async (channel) => {
      const destination = channel === 1 ? { email: 'bia@example.com' } : freshPhone()
      for (let turn = 0; turn < 10; turn++)
        expectAccepted(
          await send({
            channel,
            text: 'The same',
            emailSubject: 'Same',
            destination,
            contact: { walletClientCode: quickstart.segments[0]!.clientCode },
          }),
        )
    },
  )

  test('the attendant can be named', async () => {
    expectAccepted(
      await send({
        channel: 2,
        text: 'x',
        destination: freshPhone(),
        attendantUserName: quickstart.attendants[0],
      }),
    )
  })
})

describe('the next start', () => {
  test(
    'keeps the secrets, refreshes the addresses and the open window of the demo contact',
    { timeout: 120_000 },
    async () => {
      await first.stop()
      await database.db.query("update contact_window set received_at = now() - interval '3 days'")
      const before = quickstart
      first = await startFirst()
      quickstart = await read(first)
      token = undefined
      expect(secretsOf(quickstart)).toEqual(secretsOf(before))
      expect(quickstart.unified.baseUrl).toBe(first.baseUrl)
      expect(quickstart.unified.baseUrl).not.toBe(before.unified.baseUrl)
      for (const { url } of quickstart.media) expect(url.startsWith(first.baseUrl)).toBe(true)
      expectAccepted(await send({ channel: 3, text: 'Hello', destination: quickstart.contacts.windowOpen }))
      const [companies] = await database.db.query<{ count: number }>('select count(*) as count from company')
      expect(companies!.count).toBe(1)
    },
  )
})
