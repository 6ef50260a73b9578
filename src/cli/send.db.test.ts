/** `pombo send` and `pombo message`. What delivers is another process; here the test plays it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { makeCompany, randomMobile, type TestCompany } from '../../test/harness/factories.ts'
import { parseId } from '../lib/ids.ts'
import { prepareSealer } from '../store/sealing.ts'
import { commandLine } from './test-command-line.ts'

let database: TestDatabase
let dataDir: string
let company: TestCompany
const pombo = commandLine(() => ({ DATABASE_URL: database.url, POMBO_DATA_DIR: dataDir }))

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-send-'))
  company = await makeCompany(
    database.db,
    await prepareSealer(database.db, { sealingKey: undefined, dataDir }),
  )
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const send = (...args: string[]) => pombo(['send', company.name, ...args])
const numbered = ['--channel', 'sms', '--template', 'Numbered SMS', '--var', '1=one', '--var', '2=two = 2']

async function storedOf(shown: string) {
  const [row] = await database.db.query<{
    state: string
    recipient: string
    content: { text: string; files: object[] }
  }>('select state, recipient, content from message where id = $1', [parseId('msg', shown)])
  return row
}

test('a template to a number as people type it; its id is printed and leads to its timeline', async () => {
  const sent = await send(...numbered, '--to', '+55 (31) 98888-0042', '--json')
  expect(sent).toMatchObject({ code: 0, err: '' })
  const { id, state } = JSON.parse(sent.out) as { id: string; state: string }
  expect(state).toBe('queued')
  expect(await storedOf(id)).toMatchObject({
    state: 'queued',
    content: { text: 'First one, second two = 2.' },
  })
  const shown = await pombo(['message', id])
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(shown.out).toMatch(/^id +msg_[0-9a-f]{32}\nchannel +sms\n/)
  expect(shown.out).toMatch(/\n\d{4}-\S+Z {2}accepted/)
  const json = JSON.parse((await pombo(['message', id, '--json'])).out) as { events: { kind: string }[] }
  expect(json.events[0]!.kind).toBe('accepted')
  const audit = await database.db.query('select actor from audit_entry where noun_id = $1', [id])
  expect(audit).toMatchObject([{ actor: expect.stringMatching(/^command line \(/) }])
})

test('text from a pipe with a file, over a named line', async () => {
  const file = join(dataDir, 'hello.pdf')
  await writeFile(file, 'not really a document')
  const args = [
    '--channel',
    'email',
    '--to',
    'maria@example.com',
    '--text',
    '-',
    '--subject',
    'Hello',
    '--file',
    file,
  ]
  const sent = await pombo(['send', company.name, ...args, '--from', 'Sender@Company.example', '--json'], {
    input: 'From a pipe\n',
  })
  expect(sent).toMatchObject({ code: 0, err: '' })
  const { id } = JSON.parse(sent.out) as { id: string }
  expect(await storedOf(id)).toMatchObject({
    content: { text: 'From a pipe', files: [{ name: 'hello.pdf' }] },
  })
})

test('what cannot be sent: the option to correct, exit code 1, and nothing stored', async () => {
  const count = async () => (await database.db.query('select from message')).length
  const before = await count()
  const cases: [string[], RegExp][] = [
    [[...numbered, '--to', '12'], /^--to must be 8 to 15 digits with country code\.\n$/],
    [['--channel', 'sms', '--to', randomMobile(), '--template', 'None'], /^--template: .*\.\n$/],
    [
      ['--channel', 'sms', '--to', randomMobile(), '--template-code', 'numbered-sms', '--var', '1=x'],
      /^--var: variable 2 has no value\.\n$/,
    ],
    [['--channel', 'email', '--to', 'a@example.com', '--text', 'x'], /^--subject: .*\n$/],
    [
      [...numbered, '--to', randomMobile(), '--from', '5511'],
      /^There is no sms line 5511: see "pombo line list"\.\n$/,
    ],
    [[...numbered, '--to', randomMobile(), '--segment', 'Nobody'], /^--segment: .*\n$/],
    [
      [
        '--channel',
        'email',
        '--to',
        'a@example.com',
        '--text',
        'x',
        '--subject',
        'y',
        '--file',
        'nowhere.pdf',
      ],
      /^There is no file .*nowhere\.pdf\.\n$/,
    ],
  ]
  for (const [args, sentence] of cases)
    expect(await send(...args)).toEqual({ code: 1, out: '', err: expect.stringMatching(sentence) })
  expect(await send('--channel', 'sms', '--text', 'x')).toMatchObject({ code: 2 })
  expect(await send('--channel', 'sms', '--to', '1', '--text', 'x', '--template', 'y')).toMatchObject({
    code: 2,
  })
  expect(await send(...numbered, '--to', randomMobile(), '--var', 'novalue')).toMatchObject({ code: 2 })
  expect(await send(...numbered, '--to', randomMobile(), '--dry-run')).toMatchObject({ code: 0, err: '' })
  expect(await count()).toBe(before)
  expect(await pombo(['message', 'msg_00000000000070008000000000000000'])).toMatchObject({
    code: 1,
    err: 'There is no message msg_00000000000070008000000000000000.\n',
  })
})

test('a refusal of the rules says why', async () => {
  const phone = randomMobile()
  await database.db.query(
    `insert into rule (id, company_id, kind, name, channels, settings) values (gen_random_uuid(), $1, 'frequency_cap', 'One a day', '{sms}', '{"limit": 1, "period": "day"}')`,
    [company.id],
  )
  expect((await send(...numbered, '--to', phone)).code).toBe(0)
  expect(await send(...numbered, '--to', phone)).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(/^Not sent: .+\n$/),
  })
  await database.db.query('delete from rule where company_id = $1', [company.id])
})

test.each([
  ['delivered', 0],
  ['failed', 1],
])('--wait follows it until it is %s', async (state, code) => {
  const phone = randomMobile()
  const following = send(...numbered, '--to', phone, '--wait')
  const id = await vi.waitFor(async () => {
    const [row] = await database.db.query<{ id: string }>('select id from message where recipient = $1', [
      phone,
    ])
    expect(row).toBeDefined()
    return row!.id
  })
  await database.db.query(
    `insert into message_event (message_id, at, kind, detail) values ($1, now(), 'receipt', '{"providerId": "p-77", "exchange": {"request": "hi", "response": "\\u001b[31mred"}}')`,
    [id],
  )
  await database.db.query('delete from outbox where message_id = $1', [id])
  await database.db.query('update message set state = $2 where id = $1', [id, state])
  const ended = await following
  expect(ended.code).toBe(code)
  expect(ended.err).toContain('No Pombo works on this database now')
  expect(ended.out).toMatch(/receipt {2}providerId=p-77\n {4}request: hi\n {4}response: \?\[31mred\n/)
  expect(ended.out.endsWith(`${state}\n`)).toBe(true)
})

test('--wait ends when patience does', async () => {
  const ended = await send(...numbered, '--to', randomMobile(), '--wait', '--timeout', '0')
  expect(ended).toMatchObject({
    code: 1,
    err: expect.stringMatching(/It is still queued: "pombo message msg_/),
  })
})
