/** `pombo apply` and `pombo export`: the plan, the change, nothing the second time, and every mistake by its line. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, makeContact } from '../../test/harness/factories.ts'
import { storeMessage } from '../../test/harness/messages.ts'
import { readLineSettings } from '../store/lines.ts'
import { openSealer, prepareSealer } from '../store/sealing.ts'
import { commandLine, type Ended } from './test-command-line.ts'

let database: TestDatabase
let dataDir: string
const pombo = commandLine(() => ({ DATABASE_URL: database.url, POMBO_DATA_DIR: dataDir }))

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-apply-'))
  await prepareSealer(database.db, { sealingKey: undefined, dataDir })
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const shop = (name: string) => `company: ${name}
settings:
  timeZone: America/Sao_Paulo
  attendanceIdleHours: 8
segments:
  - name: Gold
    clientCode: G1
  - name: Silver
restrictionLists: [Do not call]
users:
  - name: robot
    role: api
    password: env:ROBOT_PASSWORD
  - name: maria
    role: supervisor
lines:
  - name: Mail
    channel: email
    email: shop@example.com
    driver: smtp
    settings:
      host: mail.example.com
      username: shop
      password: env:SMTP_PASSWORD
    isDefault: true
    segments: [Gold]
  - name: SMS
    channel: sms
    countryCode: 55
    phoneNumber: 31987650001
    driver: smpp
    settings: { host: smsc.example.com, systemId: shop, password: literal }
    ratePerSecond: 10
    failover: [SMS reserve]
  - name: SMS reserve
    channel: sms
    countryCode: 55
    phoneNumber: 31987650002
    driver: smpp
    settings: { host: smsc2.example.com, systemId: shop, password: literal }
templates:
  - name: Ready
    code: ready
    channel: sms
    body: Order @Order is ready.
    variables: ["@Order"]
rules:
  - name: Do not call
    kind: restriction_list
    list: Do not call
  - name: Office hours
    kind: allowed_hours
    action: defer
    segments: [Silver]
    hours:
      monday: ["08:00-12:00", "13:00-18:00"]
      friday: ["08:00-24:00"]
    holidays: [2026-12-25]
  - name: Not too often
    kind: frequency_cap
    limit: 3
    period: day
`
const env = { SMTP_PASSWORD: 'hunter2', ROBOT_PASSWORD: 'a long password' }

async function apply(text: string, ...options: string[]): Promise<Ended> {
  const file = join(dataDir, 'company.yaml')
  await writeFile(file, text)
  return pombo(['apply', file, ...options], { env })
}

type Printed = {
  isApplied: boolean
  changes: { action: string; noun: string; name: string; fields: string[] }[]
}

async function applied(text: string, ...options: string[]): Promise<Printed> {
  const { code, out, err } = await apply(text, '--yes', '--json', ...options)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as Printed
}

const shownChanges = (printed: Printed) =>
  printed.changes.map(({ action, noun, name, fields }) =>
    [`${action} ${noun} ${name}`, ...fields].join(' | '),
  )

/** Everything that belongs to companies, to see that nothing changed. */
async function picture(): Promise<unknown> {
  const tables = [
    'company',
    'segment',
    'restriction_list',
    'app_user',
    'line',
    'template',
    'rule',
    'audit_entry',
  ]
  return Promise.all(
    tables.map(
      async (table) =>
        (
          await database.db.query<{ digest: string }>(
            `select md5(string_agg(t::text, '' order by t::text)) as digest from ${table} t`,
          )
        )[0],
    ),
  )
}

test('from nothing to a company, then nothing more to do', async () => {
  const first = await apply(shop('First'), '--yes')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toContain('+ create line "SMS reserve"')
  expect(first.out).toMatch(/Passwords that were made, shown only now:\nuser +password\nmaria +.{20}\n/)
  expect(first.out).not.toContain('hunter2')
  expect(first.out).not.toContain('a long password')
  expect(first.out).not.toContain('\u001b')

  const before = await picture()
  expect(await apply(shop('first'), '--yes')).toEqual({
    code: 0,
    out: 'first is as the file says: nothing to do.\n',
    err: '',
  })
  expect(await picture()).toEqual(before)

  const [mail] = await database.db.query<{ id: string; company_id: string; settings: object }>(
    `select id, company_id, settings from line where email = 'shop@example.com'`,
  )
  expect(JSON.stringify(mail!.settings)).not.toContain('hunter2')
  const sealer = await openSealer(database.db, { sealingKey: undefined, dataDir })
  expect(await readLineSettings(database.db, sealer, mail!.company_id, mail!.id)).toMatchObject({
    host: 'mail.example.com',
    port: 587,
    password: 'hunter2',
  })
  const audit = await database.db.query<{ text: string }>(
    `select action || ' ' || noun as text from audit_entry where company_id = $1`,
    [mail!.company_id],
  )
  // One for each thing, and one for the failover that is set when all lines are there.
  expect(audit).toHaveLength(14)
})

test('the plan names what changes, and only that', async () => {
  await applied(shop('Second'))
  const text = shop('Second')
    .replace('attendanceIdleHours: 8', 'attendanceIdleHours: 12')
    .replace('ratePerSecond: 10', 'ratePerSecond: 20')
    .replace('password: literal', 'password: another')
    .replace('Order @Order is ready.', 'Your order @Order is ready.')
    .replace('role: supervisor', 'role: viewer')
    .replace('limit: 3', 'limit: 4')
    .replace('- name: Silver', '- name: Silver\n    clientCode: S1')
    .replace('isDefault: true\n', 'isDefault: false\n')
    .replace('failover: [SMS reserve]', 'failover: [SMS reserve]\n    isDefault: true')
  expect(shownChanges(await applied(text))).toEqual([
    'change company Second | attendanceIdleHours: 8 → 12',
    'change segment Silver | clientCode: none → S1',
    'change user maria | role: supervisor → viewer',
    'change line Mail | isDefault: true → false',
    'change line SMS | ratePerSecond: 10 → 20 | isDefault: false → true | settings.password (secret)',
    'change template Ready | body: Order @Order is ready. → Your order @Order is ready.',
    'change rule Not too often | limit: 3 → 4',
  ])
  expect((await applied(text)).changes).toEqual([])
  // What a file does not mention is left alone, also with --prune.
  expect((await applied('company: Second\n', '--prune')).changes).toEqual([])
})

test('with --prune what is not named goes, or is switched off where something refers to it', async () => {
  await applied(shop('Third'))
  const [company] = await database.db.query<{ id: string }>(`select id from company where name = 'Third'`)
  const [reserve] = await database.db.query<{ id: string }>(
    `select id from line where company_id = $1 and name = 'SMS reserve'`,
    [company!.id],
  )
  const contact = await makeContact(database.db, company!.id)
  await storeMessage(
    database.db,
    { id: company!.id, lines: { sms: [reserve] } } as unknown as Parameters<typeof storeMessage>[1],
    { providerIds: ['p1'], contactId: contact.id },
  )
  const less = `company: Third
segments: [{ name: Gold }]
restrictionLists: []
users: [{ name: robot, role: api }]
lines:
  - { name: Mail, channel: email, email: shop@example.com, driver: smtp }
templates: []
rules: []
`
  expect(await apply(less, '--yes', '--json')).toMatchObject({ code: 0 })
  expect(shownChanges(await applied(less, '--prune'))).toEqual([
    'disable user maria',
    'remove line SMS',
    'disable line SMS reserve',
    'remove template Ready',
    'remove rule Do not call',
    'remove rule Office hours',
    'remove rule Not too often',
    'remove restriction_list Do not call',
    'remove segment Silver',
  ])
  expect((await applied(less, '--prune')).changes).toEqual([])
  const used = less.replace('segments: [{ name: Gold }]', 'segments: []')
  expect((await apply(used, '--prune', '--yes')).err).toBe(
    `${join(dataDir, 'company.yaml')}:2: segments lacks "Gold", which the line Mail names\nNothing was changed.\n`,
  )
})

describe('it asks before it acts', () => {
  test('no terminal and no --yes: the plan, and nothing else', async () => {
    const asked = await apply(shop('Fourth'))
    expect(asked).toMatchObject({ code: 1, err: 'Nothing was changed: --yes makes it so.\n' })
    expect(asked.out).toContain('+ create company "Fourth"')
    const dry = await apply(shop('Fourth'), '--dry-run', '--json')
    expect(dry.code).toBe(0)
    expect(JSON.parse(dry.out)).toMatchObject({ isApplied: false })
    expect(await database.db.query(`select from company where name = 'Fourth'`)).toEqual([])
  })

  test('a person says no, then yes', async () => {
    const file = join(dataDir, 'fifth.yaml')
    await writeFile(file, 'company: Fifth\n')
    const no = await pombo(['apply', file], { answer: '' })
    expect(no).toMatchObject({ code: 1, err: 'Nothing was changed.\n' })
    expect(no.out).toContain('Make this change? [y/N] ')
    expect(await pombo(['apply', file], { answer: 'y' })).toMatchObject({ code: 0, err: '' })
    expect(await database.db.query(`select from company where name = 'Fifth'`)).toHaveLength(1)
  })
})

describe('one mistake, and nothing is changed; its file, line and path are named', () => {
  const wrong: [string, (text: string) => string, RegExp][] = [
    ['not YAML', (text) => text.replace('users:', 'users: [{'), /company\.yaml:\d+: the file is not YAML: /],
    [
      'a misspelt field',
      (text) => text.replace('clientCode:', 'clientcode:'),
      /:7: segments\[0\]\.clientcode is not known here/,
    ],
    [
      'a missing field',
      (text) => text.replace('    code: ready\n', ''),
      /:\d+: templates\[0\]\.code is missing$/m,
    ],
    [
      'another type',
      (text) => text.replace('limit: 3', 'limit: many'),
      /:61: rules\[2\]\.limit must be a whole number$/m,
    ],
    [
      'no such word',
      (text) => text.replace('role: api', 'role: king'),
      /:12: users\[0\]\.role must be one of administrator, /,
    ],
    [
      'an unset variable',
      (text) => text.replace('env:SMTP', 'env:NO_SMTP'),
      /:24: lines\[0\]\.settings\.password names the variable NO_SMTP_PASSWORD, which is not set$/m,
    ],
    [
      'a time zone',
      (text) => text.replace('America/Sao_Paulo', 'Moon/Base'),
      /:3: settings\.timeZone "Moon\/Base" is not a time zone/,
    ],
    [
      'a driver setting',
      (text) => text.replace('host: smsc2', 'hots: smsc2'),
      /:\d+: lines\[2\]\.settings\.hots is not a setting of this driver$/m,
    ],
    [
      'a required secret',
      (text) =>
        text.replace('systemId: shop, password: literal }\n    rate', 'password: literal }\n    rate'),
      /:\d+: lines\[1\]\.settings\.systemId is required$/m,
    ],
    [
      'a driver of another channel',
      (text) => text.replace('driver: smtp', 'driver: smpp'),
      /:20: lines\[0\]\.driver is not for email$/m,
    ],
    [
      'an address',
      (text) => text.replace('shop@example.com', 'nobody'),
      /:19: lines\[0\]\.email is not an e-mail address$/m,
    ],
    [
      'an unknown segment',
      (text) => text.replace('segments: [Silver]', 'segments: [Bronze]'),
      /:\d+: rules\[1\]\.segments\[0\] names no segment: there is no "Bronze"$/m,
    ],
    [
      'an unknown list',
      (text) => text.replace('list: Do not call', 'list: Nobody'),
      /:\d+: rules\[0\]\.list names no restriction list/,
    ],
    [
      'an unknown line',
      (text) => text.replace('[SMS reserve]', '[Nowhere]'),
      /:\d+: lines\[1\]\.failover\[0\] names no line/,
    ],
    [
      'hours backwards',
      (text) => text.replace('13:00-18:00', '18:00-13:00'),
      /:\d+: rules\[1\]\.hours\.monday\[1\] must go from a minute/,
    ],
    [
      'a variable nobody uses',
      (text) => text.replace('Order @Order is', 'It is'),
      /:\d+: templates\[0\]\.variables /,
    ],
    [
      'twice the same',
      (text) => text.replace('name: Silver', 'name: gold'),
      /:8: segments\[1\]\.name names the same as segments\[0\]$/m,
    ],
    [
      'two defaults',
      (text) =>
        text
          .replace('ratePerSecond: 10', 'isDefault: true')
          .replace(
            'smsc2.example.com, systemId: shop, password: literal }',
            'smsc2.example.com, systemId: shop, password: literal }\n    isDefault: true',
          ),
      /:\d+: lines\[2\]\.isDefault is true for lines\[1\] already/,
    ],
    [
      'a short password',
      (text) => text.replace('env:ROBOT_PASSWORD', 'short'),
      /:13: users\[0\]\.password must have from 8 to 256 characters$/m,
    ],
    [
      'a setting of another kind',
      (text) => text.replace('period: day', 'period: day\n    withinMinutes: 5'),
      /:\d+: rules\[2\]\.withinMinutes is no setting of a rule of the kind frequency_cap$/m,
    ],
  ]
  test.each(wrong)('%s', async (_, change, sentence) => {
    const before = await picture()
    const text = change(shop('Wrong'))
    expect(text).not.toBe(shop('Wrong'))
    const ended = await apply(text, '--yes')
    expect(ended).toMatchObject({ code: 1, out: '' })
    expect(ended.err).toMatch(sentence)
    expect(ended.err).toMatch(/\nNothing was changed\.\n$/)
    expect(ended.err).not.toContain('hunter2')
    expect(await picture()).toEqual(before)
  })

  test('a template keeps its channel, a rule its kind', async () => {
    await applied(shop('Sixth'))
    expect(
      (
        await apply(
          shop('Sixth').replace('code: ready\n    channel: sms', 'code: ready\n    channel: email'),
          '--yes',
        )
      ).err,
    ).toMatch(/templates\[0\]\.channel is sms for this template, which stays/)
    expect(
      (
        await apply(
          shop('Sixth').replace(
            'kind: frequency_cap\n    limit: 3\n    period: day',
            'kind: duplicate\n    withinMinutes: 5',
          ),
          '--yes',
        )
      ).err,
    ).toMatch(/rules\[2\]\.kind is frequency_cap for this rule, which stays/)
  })
})

describe('export', () => {
  test('what it writes changes nothing when it is applied, and holds no secret', async () => {
    const sealer = await openSealer(database.db, { sealingKey: undefined, dataDir })
    const company = await makeCompany(database.db, sealer)
    await applied(
      shop(company.name)
        .replaceAll('shop@example.com', 'other@example.com')
        .replace('isDefault: true', 'isDefault: false')
        .replaceAll('3198765000', '3298765000'),
    )
    const exported = await pombo(['export', company.name])
    expect(exported).toMatchObject({ code: 0, err: '' })
    for (const secret of ['hunter2', 'literal', company.privateToken, company.callbackSecret, 'accessToken'])
      expect(exported.out).not.toContain(secret)
    expect((await applied(exported.out, '--prune')).changes).toEqual([])
  })

  test('for another company the secrets that are missing are named', async () => {
    await applied(shop('Seventh'))
    const exported = (await pombo(['export', 'Seventh'])).out.replace('company: Seventh', 'company: Eighth')
    expect((await apply(exported, '--yes')).err).toMatch(
      /company\.yaml:\d+: lines\[\d\]\.settings\.password is required\n/,
    )
    const whole = exported.replaceAll(/( +)systemId: shop\n/g, '$1systemId: shop\n$1password: literal\n')
    expect((await applied(whole)).changes.length).toBeGreaterThan(10)
    const again = (await pombo(['export', 'Eighth'])).out
    expect(again.replaceAll('Eighth', 'Seventh')).toBe((await pombo(['export', 'Seventh'])).out)
  })
})

test('the example of the documentation can be applied', async () => {
  const text = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8')
  const example = /```yaml\n(company:[^`]*)```/.exec(text)?.[1] ?? ''
  const file = join(dataDir, 'example.yaml')
  await writeFile(file, example)
  const variables = { INTEGRATION_PASSWORD: 'a long password', SMTP_PASSWORD: 'x' }
  expect(await pombo(['apply', file, '--yes'], { env: variables })).toMatchObject({ code: 0, err: '' })
})
