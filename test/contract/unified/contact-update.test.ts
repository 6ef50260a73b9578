import { describe, expect, test } from 'vitest'
import {
  expectAccepted,
  expectInvalid,
  expectRefused,
  freshEmail,
  freshPhone,
  messages,
  useUnified,
  type Body,
} from './support.ts'

const u = useUnified()
const c = () => u.company

const data = (): Body => ({
  name: 'Ana Lima',
  customCode: 'C-9',
  id: '12345678900',
  tag: 'vip north',
  jokers: ['one', 'two', 'three', 'four', 'five'],
  walletClientCode: c().segments.gold.clientCode,
})
const stored = () => ({
  name: 'Ana Lima',
  custom_code: 'C-9',
  tax_id: '12345678900',
  tag: 'vip north',
  jokers: ['one', 'two', 'three', 'four', 'five'],
  segment_id: c().segments.gold.id,
})

describe('a contact that does not exist', () => {
  test.for([true, false, undefined])(
    'is created with the data of the call, updateIfExists %s',
    async (updateIfExists) => {
      const to = freshPhone()
      expectAccepted(await c().send(c().sms({ destination: to, contact: { ...data(), updateIfExists } })))
      expect(await c().contact(to)).toMatchObject(stored())
    },
  )

  test('is created by an e-mail as well', async () => {
    const email = freshEmail()
    expectAccepted(await c().send(c().email({ destination: { email }, contact: data() })))
    expect(await c().contact(email)).toMatchObject({ ...stored(), email, phone: null })
  })

  test('is created without data too', async () => {
    const to = freshPhone()
    expectAccepted(await c().send(c().sms({ destination: to })))
    expect(await c().contact(to)).toMatchObject({ name: null, tag: null })
  })

  test('is not created by a refused or bad send', async () => {
    const to = freshPhone()
    expectRefused(await c().send(c().whatsappText(to, { contact: data() })), messages.windowClosed)
    await c().send(c().sms({ destination: to, contact: data(), templateName: 'none' }))
    expect(await c().contact(to)).toBeUndefined()
  })
})

describe('a contact that exists', () => {
  test('updateIfExists true: every given value overwrites', async () => {
    const to = freshPhone()
    await c().addContact(to, {
      name: 'Old',
      custom_code: 'old',
      tax_id: 'old',
      tag: 'old',
      jokers: ['x'],
      segment_id: c().segments.silver.id,
    })
    expectAccepted(await c().send(c().sms({ destination: to, contact: { ...data(), updateIfExists: true } })))
    expect(await c().contact(to)).toMatchObject(stored())
  })

  test('updateIfExists true: what is not given stays', async () => {
    const to = freshPhone()
    await c().addContact(to, {
      name: 'Old',
      custom_code: 'old',
      tax_id: 'old',
      tag: 'old',
      segment_id: c().segments.silver.id,
    })
    expectAccepted(
      await c().send(c().sms({ destination: to, contact: { name: 'New', tag: '', updateIfExists: true } })),
    )
    expect(await c().contact(to)).toMatchObject({
      name: 'New',
      custom_code: 'old',
      tax_id: 'old',
      tag: 'old',
      segment_id: c().segments.silver.id,
    })
  })

  test('updateIfExists true: jokers go position by position', async () => {
    const to = freshPhone()
    await c().addContact(to, { jokers: ['a', 'b', 'c', 'd', 'e'] })
    expectAccepted(
      await c().send(
        c().sms({ destination: to, contact: { jokers: [null, 'B', '', 'D'], updateIfExists: true } }),
      ),
    )
    expect((await c().contact(to))!.jokers).toEqual(['a', 'B', 'c', 'D', 'e'])
  })

  test('updateIfExists true: a later position than any stored one is filled', async () => {
    const to = freshPhone()
    await c().addContact(to, { jokers: ['a'] })
    expectAccepted(
      await c().send(
        c().sms({ destination: to, contact: { jokers: [null, null, 'c'], updateIfExists: true } }),
      ),
    )
    const jokers = (await c().contact(to))!.jokers!
    expect([jokers[0], jokers[1], jokers[2]]).toEqual(['a', null, 'c'])
  })

  test.for([false, undefined])('updateIfExists %s stores nothing', async (updateIfExists) => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Old', tag: 'old' })
    expectAccepted(await c().send(c().sms({ destination: to, contact: { ...data(), updateIfExists } })))
    expect(await c().contact(to)).toMatchObject({
      name: 'Old',
      tag: 'old',
      custom_code: null,
      tax_id: null,
      segment_id: null,
    })
  })

  test.for([true, false])(
    'the data of the call fills this very message, updateIfExists %s',
    async (updateIfExists) => {
      const to = freshPhone()
      await c().addContact(to, { name: 'Old Name', tag: 'old' })
      const answer = await c().send(
        c().sms({
          destination: to,
          text: '@FirstName @Tag @Joker2 @Wallet',
          contact: { ...data(), tag: undefined, updateIfExists },
        }),
      )
      expect((await c().message(answer)).content.text).toBe('Ana old two Gold')
    },
  )

  test('a refused send changes nothing, whatever updateIfExists says', async () => {
    const to = freshPhone()
    await c().addContact(to, { name: 'Old' })
    expectRefused(
      await c().send(c().whatsappText(to, { contact: { ...data(), updateIfExists: true } })),
      messages.windowClosed,
    )
    expect(await c().contact(to)).toMatchObject({ name: 'Old', tag: null, last_interaction_at: null })
  })

  test('free strings have no format', async () => {
    const to = freshPhone()
    const odd = { name: '—', customCode: '</b> "\'', id: 'no digits at all', tag: '🐦, x; y' }
    expectAccepted(await c().send(c().sms({ destination: to, contact: { ...odd, updateIfExists: true } })))
    expect(await c().contact(to)).toMatchObject({
      name: odd.name,
      custom_code: odd.customCode,
      tax_id: odd.id,
      tag: odd.tag,
    })
  })
})

describe('walletClientCode', () => {
  test('unknown: 400, nothing stored', async () => {
    const before = await c().traces()
    const contact = { walletClientCode: 'no such code' }
    expectInvalid(await c().send(c().sms({ contact })), 'contact.walletClientCode')
    expect(await c().traces()).toEqual(before)
  })

  test('is recorded with the message', async () => {
    const answer = await c().send(c().sms({ contact: { walletClientCode: c().segments.silver.clientCode } }))
    expect((await c().message(answer)).segment_id).toBe(c().segments.silver.id)
  })
})
