/** Segments, lines and templates: what a company's sends can name. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { must, testSealer as sealer } from '../../test/harness/factories.ts'
import { createCompany } from './companies.ts'
import type { Db } from './db.ts'
import {
  changeLine,
  changeLineSettings,
  createLine,
  getLine,
  listLines,
  makeDefaultLine,
  pauseLine,
  readLineSettings,
  type LineInput,
} from './lines.ts'
import { changeSegment, createSegment, listSegments } from './segments.ts'
import {
  changeTemplate,
  createTemplate,
  getTemplate,
  setTemplateState,
  type TemplateInput,
} from './templates.ts'

let database: TestDatabase
let db: Db
let companyId: string
let strangerId: string
let companies = 0
beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})
afterAll(() => database.drop())
const newCompany = async () => must(await createCompany(db, sealer, { name: `Company ${companies++}` })).id
beforeEach(async () => {
  companyId = await newCompany()
  strangerId = await newCompany()
})

const catalogueVersion = async () =>
  (
    await db.query<{ version: number }>('select catalogue_version as version from company where id = $1', [
      companyId,
    ])
  )[0]!.version

describe('segments', () => {
  test('name and client code are each unique, and both are named when both are taken', async () => {
    must(await createSegment(db, companyId, { name: 'Gold', clientCode: 'G1' }))
    expect(await createSegment(db, companyId, { name: ' gold', clientCode: 'g1 ' })).toMatchObject({
      ok: false,
      problems: [{ field: 'name' }, { field: 'clientCode' }],
    })
    expect(await createSegment(db, companyId, { name: 'Silver', clientCode: 'G1' })).toMatchObject({
      ok: false,
      problems: [{ field: 'clientCode' }],
    })
    expect((await createSegment(db, strangerId, { name: 'Gold', clientCode: 'G1' })).ok).toBe(true)
    must(await createSegment(db, companyId, { name: 'No code' }))
    must(await createSegment(db, companyId, { name: 'No code either' }))
    expect(await listSegments(db, companyId)).toHaveLength(3)
  })

  test('a change of one keeps the other; a taken name is refused', async () => {
    const gold = must(await createSegment(db, companyId, { name: 'Gold', clientCode: 'G1' }))
    must(await createSegment(db, companyId, { name: 'Silver' }))
    expect(must(await changeSegment(db, companyId, gold.id, { name: 'Platinum' }))).toMatchObject({
      name: 'Platinum',
      clientCode: 'G1',
    })
    expect((await changeSegment(db, companyId, gold.id, { name: 'silver' }))?.ok).toBe(false)
    expect(await changeSegment(db, strangerId, gold.id, { name: 'Stolen' })).toBeUndefined()
  })
})

describe('lines', () => {
  const smpp = (changes: Partial<LineInput> = {}): LineInput => ({
    name: 'SMS',
    channel: 'sms',
    countryCode: 55,
    phoneNumber: 31987650001,
    driver: 'smpp',
    settings: { host: 'smsc.example', password: 'hidden' },
    ...changes,
  })
  const create = (changes: Partial<LineInput> = {}) =>
    createLine(db, sealer, companyId, smpp(changes), ['password'])

  test('secrets are sealed apart, and come back only when asked for', async () => {
    const line = must(await create())
    expect(line.settings).toEqual({ host: 'smsc.example' })
    expect(await readLineSettings(db, sealer, companyId, line.id)).toEqual({
      host: 'smsc.example',
      password: 'hidden',
    })
    const [row] = await db.query<{ text: string }>('select line::text as text from line where id = $1', [
      line.id,
    ])
    expect(row!.text).not.toContain('hidden')
    expect(row!.text).not.toContain(Buffer.from('hidden').toString('hex'))
  })

  test('new settings keep a secret that is not given and drop one that is null', async () => {
    const line = must(await create())
    await changeLineSettings(db, sealer, companyId, line.id, { host: 'other.example' }, ['password'])
    expect(await readLineSettings(db, sealer, companyId, line.id)).toEqual({
      host: 'other.example',
      password: 'hidden',
    })
    await changeLineSettings(db, sealer, companyId, line.id, { host: 'other.example', password: null }, [
      'password',
    ])
    expect(await readLineSettings(db, sealer, companyId, line.id)).toEqual({ host: 'other.example' })
  })

  test('a number is one line per channel', async () => {
    must(await create())
    expect(await create()).toMatchObject({ ok: false, problems: [{ field: 'phoneNumber' }] })
    expect((await create({ channel: 'whatsapp' })).ok).toBe(true)
  })

  test('one default per channel, which can be moved', async () => {
    const first = must(await create({ isDefault: true }))
    expect(await create({ isDefault: true, phoneNumber: 31987650002 })).toMatchObject({
      ok: false,
      problems: [{ field: 'isDefault' }],
    })
    const second = must(await create({ phoneNumber: 31987650002 }))
    await db.transaction((transaction) => makeDefaultLine(transaction, companyId, second.id))
    expect((await listLines(db, companyId)).map(({ id, isDefault }) => [id, isDefault])).toEqual([
      [first.id, false],
      [second.id, true],
    ])
  })

  test.each([
    ['an e-mail line without address', { channel: 'email' as const }, 'email'],
    ['an impossible number', { phoneNumber: 1 }, 'phoneNumber'],
    ['no number', { phoneNumber: undefined }, 'phoneNumber'],
    ['a rate of nothing', { ratePerSecond: 0 }, 'ratePerSecond'],
    ['half a slot', { inFlightLimit: 0.5 }, 'inFlightLimit'],
  ])('%s is refused', async (_what, changes, field) => {
    expect(await create(changes)).toMatchObject({ ok: false, problems: [{ field }] })
  })

  test('pausing and changing raise the catalogue version; strangers change nothing', async () => {
    const line = must(await create())
    const before = await catalogueVersion()
    const paused = await pauseLine(db, companyId, line.id, { at: new Date('2030-01-01'), reason: 'tired' })
    expect(paused).toMatchObject({ isPaused: true, pausedReason: 'tired' })
    expect(must(await changeLine(db, companyId, line.id, { isEnabled: false })).isEnabled).toBe(false)
    expect(await catalogueVersion()).toBeGreaterThan(before)
    expect(await pauseLine(db, strangerId, line.id, null)).toBeUndefined()
    expect(await getLine(db, strangerId, line.id)).toBeUndefined()
    expect((await getLine(db, companyId, line.id))?.isPaused).toBe(true)
  })
})

describe('templates', () => {
  const input = (changes: Partial<TemplateInput> = {}): TemplateInput => ({
    name: 'Greeting',
    code: 'greeting',
    channel: 'sms',
    kind: 'text',
    content: { body: 'Hello @Who', buttons: [], variables: ['@Who'] },
    ...changes,
  })

  test('variables are kept by their bare names', async () => {
    expect(must(await createTemplate(db, companyId, input())).content.variables).toEqual(['Who'])
  })

  test('name and code are unique over all channels', async () => {
    must(await createTemplate(db, companyId, input()))
    const content = { subject: 'x', body: 'x', buttons: [], variables: [] }
    const other = { channel: 'email' as const, content }
    expect(await createTemplate(db, companyId, input({ ...other, code: 'x' }))).toMatchObject({
      ok: false,
      problems: [{ field: 'name' }],
    })
    expect(
      await createTemplate(db, companyId, input({ ...other, name: 'GREETING', code: 'Greeting ' })),
    ).toMatchObject({
      ok: false,
      problems: [{ field: 'name' }, { field: 'code' }],
    })
  })

  test('a bad one is refused with all its problems and not stored', async () => {
    const refused = await createTemplate(
      db,
      companyId,
      input({ name: '', content: { body: '', buttons: [], variables: ['X'] } }),
    )
    expect(refused.ok ? [] : refused.problems.map(({ field }) => field)).toEqual([
      'name',
      'body',
      'variables',
    ])
  })

  test('a change is checked like a new one', async () => {
    const template = must(await createTemplate(db, companyId, input()))
    const changes = {
      name: 'Salute',
      code: 'salute',
      content: { body: 'Hi @You', buttons: [], variables: ['You'] },
    }
    expect(must(await changeTemplate(db, companyId, template.id, changes))).toMatchObject(changes)
    const bad = { ...changes, content: { ...changes.content, variables: [] as string[], body: 'Hi @Name' } }
    expect((await changeTemplate(db, companyId, template.id, bad))?.ok).toBe(false)
    expect((await getTemplate(db, companyId, template.id))?.content.body).toBe('Hi @You')
    expect(await changeTemplate(db, strangerId, template.id, changes)).toBeUndefined()
  })

  test('state changes leave the rest alone', async () => {
    const template = must(await createTemplate(db, companyId, input()))
    expect(await setTemplateState(db, companyId, template.id, { approval: 'paused' })).toEqual({
      ...template,
      approval: 'paused',
    })
  })
})
