import { describe, expect, test } from 'vitest'
import { createTemplate } from '../../../src/store/templates.ts'
import { expectAccepted, expectInvalid, freshPhone, useUnified } from './support.ts'

const u = useUnified()
const c = () => u.company

const spellings: [string, (name: string) => string][] = [
  ['as it is', (name) => name],
  ['in lower case', (name) => name.toLowerCase()],
  ['in upper case', (name) => name.toUpperCase()],
  ['with spaces around it', (name) => ` \t${name}  `],
]

describe('names compare trimmed and without regard to case', () => {
  test.for(spellings)('a template %s', async ([, spell]) => {
    const answer = await c().send(c().whatsapp({ templateName: spell(c().templates.whatsapp.name) }))
    expectAccepted(answer)
    expect((await c().message(answer)).template_id).toBe(c().templates.whatsapp.id)
  })

  test.for(spellings)('an attendant %s', async ([, spell]) => {
    const to = freshPhone()
    expectAccepted(
      await c().send(c().sms({ destination: to, attendantUserName: spell(c().users.maria.name) })),
    )
    expect(await c().openAttendances((await c().contact(to))!.id)).toMatchObject([
      { user_id: c().users.maria.id },
    ])
  })

  test.for(spellings)('a wallet code %s', async ([, spell]) => {
    const to = freshPhone()
    const contact = { walletClientCode: spell(c().segments.gold.clientCode) }
    expectAccepted(await c().send(c().sms({ destination: to, contact })))
    expect((await c().contact(to))!.segment_id).toBe(c().segments.gold.id)
  })
})

describe("a template's name and code are each unique in a company, over all channels", () => {
  const save = (name: string, code: string, companyId = c().id) =>
    createTemplate(u.app.db, companyId, {
      name,
      code,
      channel: 'sms',
      kind: 'text',
      content: { body: 'Hi', buttons: [], variables: [] },
    })

  test.for<[string, string, string]>([
    ['name', ' ORDER update ', 'a code of its own'],
    ['code', 'A name of its own', ' ord-w '],
  ])(
    'a second one with the %s of a template of another channel is not saved',
    async ([field, name, code]) => {
      const result = await save(name, code)
      expect(result).toMatchObject({ ok: false, problems: [{ field }] })
    },
  )

  test('another company may have the same', async () => {
    const other = await u.app.makeCompany()
    expect(await save('Order Update', 'ORD-W', other.id)).toMatchObject({ ok: true })
  })
})

describe('a name is found by nothing else', () => {
  test("a template's code is not its name", async () => {
    expectInvalid(await c().send(c().whatsapp({ templateName: 'ORD-W' })), 'templateName')
  })

  test("a wallet's name is not its client code", async () => {
    const contact = { walletClientCode: c().segments.gold.name }
    expectInvalid(await c().send(c().sms({ contact })), 'contact.walletClientCode')
  })

  test('names of another company are unknown here', async () => {
    const other = await u.newCompany()
    await other.addTemplate({ channel: 'sms', name: 'Only theirs', content: { body: 'Hi' } })
    expectInvalid(await c().send(c().sms({ templateName: 'Only theirs' })), 'templateName')
  })
})
