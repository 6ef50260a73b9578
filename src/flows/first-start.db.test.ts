import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../../test/harness/database.ts'
import { makeCompany, testSealer } from '../../test/harness/factories.ts'
import { contactVariableNames } from '../domain/variables.ts'
import { silentLog } from '../lib/log.ts'
import { verifyPassword } from '../lib/secrets.ts'
import type { Db } from '../store/db.ts'
import { drawFlower } from './demo/pictures.ts'
import { readQuickstart, type Quickstart } from './demo/quickstart.ts'
import { decideFirstStart } from './first-start.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pombo-first-start-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const now = new Date('2030-01-07T12:00:00Z')
const addressesAt = (base: string) => ({ unified: base, direct: base, console: base })

async function decide(db: Db, options: { isDemo?: boolean; base?: string; folder?: string } = {}) {
  const connection = await db.connect()
  try {
    await decideFirstStart(connection, {
      sealer: testSealer,
      clock: { now: () => now },
      log: silentLog,
      dataDir: options.folder ?? dataDir,
      isDemo: options.isDemo ?? true,
      addresses: addressesAt(options.base ?? 'http://127.0.0.1:8080'),
    })
  } finally {
    connection.release()
  }
}

async function demo(db: Db): Promise<Quickstart> {
  await decide(db)
  return (await readQuickstart(dataDir))!
}

test('an empty database gets the demo, described for the owner only in the promised shape', async () => {
  const { db } = await testDatabase()
  const quickstart = await demo(db)
  expect((await stat(join(dataDir, 'quickstart.json'))).mode & 0o777).toBe(0o600)
  expect(await readdir(dataDir)).toEqual(['quickstart.json'])
  expect(Object.keys(quickstart)).toEqual(
    'unified direct console lines templates segments attendants contacts restricted media sandbox'.split(' '),
  )
  expect(quickstart.unified).toEqual({
    baseUrl: 'http://127.0.0.1:8080',
    company: 'Pombo Demo',
    username: expect.any(String),
    password: expect.stringMatching(/^.{20}$/),
    platformPrivateToken: expect.stringMatching(/^.{43}$/),
  })
  expect(quickstart.direct.callbackSecret).toMatch(/^whsec_/)
})

test('at least what was promised: lines, templates, segments, media', async () => {
  const { db } = await testDatabase()
  const { lines, templates, segments, media, attendants } = await demo(db)
  const count = (channel: string, prospect: boolean) =>
    lines.filter((line) => line.channel === channel && line.prospect === prospect).length
  expect([
    count('whatsapp', true),
    count('whatsapp', false),
    count('sms', false),
    count('email', false),
  ]).toEqual([2, 1, 1, 1])
  const contactKeys = new Set(contactVariableNames.map((name) => name.toLowerCase()))
  for (const channel of ['email', 'sms', 'whatsapp']) {
    const own = templates.find((template) => template.channel === channel && template.kind === 'text')!
    expect(own.variables.some((name) => !contactKeys.has(name.toLowerCase()))).toBe(true)
  }
  expect(templates.find(({ kind }) => kind === 'verification')?.variables).toEqual(['Code'])
  expect(templates.find(({ kind }) => kind === 'carousel')?.cards).toBe(media.length)
  expect(templates.some(({ variables }) => variables.includes('1') && variables.includes('2'))).toBe(true)
  expect(
    templates.some(({ headerVariable, variables }) => headerVariable && variables.includes(headerVariable)),
  ).toBe(true)
  expect(segments).toHaveLength(2)
  expect(attendants).toHaveLength(1)
  for (const { url } of media) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/media\/[0-9a-f]{32}\.png$/)
})

test('all numbers are possible, and none is in the range that is left to people', async () => {
  const { db } = await testDatabase()
  const { lines, contacts, restricted } = await demo(db)
  const numbers = [
    ...lines.filter((line) => line.phoneNumber).map((line) => `${line.countryCode}${line.phoneNumber}`),
    ...Object.values(contacts).map((contact) => `${contact.countryCode}${contact.phoneNumber}`),
    restricted.phone,
  ]
  expect(numbers).toHaveLength(7)
  for (const digits of numbers) {
    expect(parsePhoneNumberFromString(`+${digits}`)?.isPossible()).toBe(true)
    expect(digits).not.toMatch(/^55119[01]/)
  }
  expect(restricted.phone).toMatch(/^55\d{2}9\d{8}$/)
})

test('the passwords are those of the users, and the demo restricts nothing but its own number and segment', async () => {
  const { db } = await testDatabase()
  const { unified, console: door, restricted } = await demo(db)
  for (const { username, password } of [unified, door]) {
    const [user] = await db.query<{ hash: string }>(
      'select password_hash as hash from app_user where name = $1',
      [username],
    )
    expect(await verifyPassword(password, user!.hash)).toBe(true)
  }
  const rules = await db.query<{ kind: string; segments: number; lists: number; channels: number }>(
    `select kind, cardinality(segment_ids) as segments, cardinality(channels) as channels,
      (select count(*) from restriction_entry where list_id::text = settings->>'listId' and value = $1) as lists
      from rule order by position`,
    [restricted.phone],
  )
  expect(rules).toEqual([
    { kind: 'restriction_list', segments: 0, channels: 3, lists: 1 },
    { kind: 'restriction_list', segments: 0, channels: 3, lists: 1 },
    { kind: 'allowed_hours', segments: 1, channels: 3, lists: 0 },
    { kind: 'frequency_cap', segments: 1, channels: 3, lists: 0 },
  ])
  expect(await db.query('select list_id from restriction_entry')).toHaveLength(restricted.lists)
})

test('secrets differ from machine to machine', async () => {
  const secrets: string[] = []
  for (let machine = 0; machine < 2; machine++) {
    const { db } = await testDatabase()
    const { unified, direct, console: door } = await demo(db)
    secrets.push(
      unified.password,
      unified.platformPrivateToken,
      direct.token,
      direct.callbackSecret,
      door.password,
    )
  }
  expect(new Set(secrets).size).toBe(10)
})

test('a later start keeps the secrets and refreshes the addresses, media included', async () => {
  const { db } = await testDatabase()
  const before = await demo(db)
  await decide(db, { base: 'https://pombo.example' })
  const after = (await readQuickstart(dataDir))!
  expect(after.unified).toEqual({ ...before.unified, baseUrl: 'https://pombo.example' })
  expect(after.direct.token).toBe(before.direct.token)
  expect(after.media.map(({ url }) => url)).toEqual(
    before.media.map(({ url }) => url.replace('http://127.0.0.1:8080', 'https://pombo.example')),
  )
  expect(await db.query('select 1 from company')).toHaveLength(1)
})

test('no demo when it is off, or when there is a company; another node writes no file', async () => {
  const { db } = await testDatabase()
  await decide(db, { isDemo: false })
  expect(await db.query('select 1 from company')).toEqual([])
  await makeCompany(db)
  await decide(db)
  expect(await db.query('select 1 from company')).toHaveLength(1)
  expect(await readdir(dataDir)).toEqual([])
})

test('a file that cannot be written leaves no company behind', async () => {
  const { db } = await testDatabase()
  await expect(decide(db, { folder: join(dataDir, 'missing') })).rejects.toThrow('ENOENT')
  expect(await db.query('select 1 from company')).toEqual([])
})

test('a picture is a complete PNG', () => {
  const png = drawFlower([1, 2, 3])
  expect(png.subarray(0, 8).toString('latin1')).toBe('\u0089PNG\r\n\u001a\n')
  const length = png.readUInt32BE(33)
  expect(png.subarray(37, 41).toString('latin1')).toBe('IDAT')
  expect(inflateSync(png.subarray(41, 41 + length))).toHaveLength(200 * (1 + 320 * 3))
  expect(png.subarray(-8, -4).toString('latin1')).toBe('IEND')
})
