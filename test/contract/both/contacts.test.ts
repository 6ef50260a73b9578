import { describe, expect, test } from 'vitest'
import { expectAccepted, expectRefused, messages, useUnified, type TestPhone } from '../unified/support.ts'

const u = useUnified()
const c = () => u.company

const phone = (countryCode: number, phoneNumber: number): TestPhone => ({ countryCode, phoneNumber })
const contactOf = async (to: TestPhone): Promise<string> => {
  const answer = await c().send(c().sms({ destination: to }))
  expectAccepted(answer)
  return (await c().message(answer)).contact_id!
}

describe('a contact is one person of one company', () => {
  test('found again by the address of the channel used', async () => {
    const to = phone(55, 21971112222)
    expect(await contactOf(to)).toBe(await contactOf(to))
    const whatsapp = await c().send(c().whatsapp({ destination: to }))
    expect((await c().message(whatsapp)).contact_id).toBe(await contactOf(to))
  })

  test('of one company: another company has its own', async () => {
    const other = await u.newCompany()
    const to = phone(55, 21971112223)
    const answer = await other.send(other.sms({ destination: to, contact: { name: 'Theirs' } }))
    expect((await other.message(answer)).contact_id).not.toBe(await contactOf(to))
    expect((await c().contact(to))!.name).toBeNull()
  })

  test.for([6, 7, 8, 9])(
    'a Brazilian mobile with and without its ninth digit, starting %i',
    async (first) => {
      const local = first * 10_000_000 + 1_112_223
      const long = phone(55, 31_900_000_000 + local)
      const short = phone(55, 3_100_000_000 + local)
      const id = await contactOf(short)
      expect(await contactOf(long)).toBe(id)
      expect(await contactOf(short)).toBe(id)
      expectRefused(
        await c().send(c().sms({ destination: short, discardSettings: { recentContactLastHours: 1 } })),
        messages.recentlyContacted,
      )
    },
  )

  test('the message still goes to the number that was given', async () => {
    const answer = await c().send(c().sms({ destination: phone(55, 3196443322) }))
    expect((await c().message(answer)).recipient.replace('+', '')).toBe('553196443322')
  })

  test.for<[string, TestPhone, TestPhone]>([
    ['a Brazilian fixed line and a mobile', phone(55, 1132345678), phone(55, 11932345678)],
    ['two area codes', phone(55, 11961112224), phone(55, 12961112224)],
    ['another country with a nine in front', phone(351, 212345678), phone(351, 912345678)],
    ['the same digits in two countries', phone(1, 2025550123), phone(44, 2025550123)],
  ])('nothing else is merged: %s', async ([, one, two]) => {
    expect(await contactOf(one)).not.toBe(await contactOf(two))
  })

  test('an e-mail address whatever its case', async () => {
    const ids = []
    for (const email of ['Bia.Reis@Example.com', 'bia.reis@example.com']) {
      const answer = await c().send(c().email({ destination: { email } }))
      ids.push((await c().message(answer)).contact_id)
    }
    expect(ids[0]).toBe(ids[1])
  })
})
