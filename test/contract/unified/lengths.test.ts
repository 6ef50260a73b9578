import { describe, expect, test } from 'vitest'
import { expectAccepted, expectInvalid, freshPhone, useUnified, type Body } from './support.ts'

const u = useUnified()
const c = () => u.company

const jokers = (index: number, value: string) => ({
  jokers: Array.from({ length: index + 1 }, (_, at) => (at === index ? value : 'x')),
})

/** Fields with a limit in characters, in a body that is otherwise right. */
const limited: { path: string; limit: number; build: (value: string) => Body }[] = [
  ...(['name', 'customCode', 'id'] as const).map((name) => ({
    path: `contact.${name}`,
    limit: 255,
    build: (value: string) => c().sms({ contact: { [name]: value } }),
  })),
  { path: 'contact.tag', limit: 1000, build: (value) => c().sms({ contact: { tag: value } }) },
  ...[0, 1, 2, 3].map((index) => ({
    path: `contact.jokers[${index}]`,
    limit: 300,
    build: (value: string) => c().sms({ contact: jokers(index, value) }),
  })),
  { path: 'contact.jokers[4]', limit: 3000, build: (value) => c().sms({ contact: jokers(4, value) }) },
  {
    path: 'voiceSettings.callId',
    limit: 255,
    build: (value) => c().sms({ voiceSettings: { callId: value } }),
  },
  { path: 'emailSubject', limit: 998, build: (value) => c().email({ emailSubject: value }) },
  {
    path: 'files[0].name',
    limit: 255,
    build: (value) => c().email({ files: [{ name: `${value.slice(0, -4)}.txt`, base64: 'YQ==' }] }),
  },
  {
    path: 'files[0].address',
    limit: 2048,
    build: (value) =>
      c().email({ files: [{ name: 'a.txt', address: `https://example.com/${value.slice(20)}` }] }),
  },
]

describe('limits in characters', () => {
  test.for(limited)('$path: $limit go, one more does not', async ({ path, limit, build }) => {
    expectAccepted(await c().send(build('a'.repeat(limit))))
    expectInvalid(await c().send(build('a'.repeat(limit + 1))), path)
  })

  // An address is written in ASCII; a file name of this many emoji is no name that a mail system would carry.
  const anyText = limited.filter(({ path }) => path !== 'files[0].address' && path !== 'files[0].name')
  test.for(anyText)(
    '$path: a character outside the basic plane counts once',
    async ({ path, limit, build }) => {
      expectAccepted(await c().send(build('🐦'.repeat(limit))))
      expectInvalid(await c().send(build('🐦'.repeat(limit + 1))), path)
    },
  )

  test('what was taken is stored in full', async () => {
    const to = freshPhone()
    const contact = { name: 'n'.repeat(255), ...jokers(4, 'é'.repeat(3000)) }
    expectAccepted(await c().send(c().sms({ destination: to, contact })))
    expect(await c().contact(to)).toMatchObject({ name: contact.name, jokers: contact.jokers })
  })
})

describe('texts', () => {
  /** Ten segments: 153 septets or 67 UTF-16 units in each. */
  test.for([
    ['GSM letters', 'a', 1530],
    ['letters of the extension table, which count twice', '€', 760],
    ['other letters', 'ж', 670],
    ['emoji, which count twice and are not torn', '🐦', 330],
  ] as const)('SMS: ten segments of %s go, one more character does not', async ([, letter, most]) => {
    expectAccepted(await c().send(c().sms({ text: letter.repeat(most) })))
    expectInvalid(await c().send(c().sms({ text: letter.repeat(most + 1) })), 'text')
  })

  test('SMS: what counts is the text after variables are filled', async () => {
    const long = 'b'.repeat(300)
    expectInvalid(
      await c().send(c().sms({ text: '@Joker1 '.padEnd(1300, 'a'), contact: { jokers: [long] } })),
      'text',
    )
    // 200 times "@Joker1" and a space is 1,600 characters before and 200 after.
    expectAccepted(await c().send(c().sms({ text: '@Joker1 '.repeat(200) })))
  })

  test('SMS template: the rendered text counts', async () => {
    const template = await c().addTemplate({ channel: 'sms', content: { body: '@Any', variables: ['Any'] } })
    const send = (length: number) =>
      c().send(
        c().sms({
          templateName: template.name,
          templateParameters: [{ parameterName: 'Any', parameterValue: 'a'.repeat(length) }],
        }),
      )
    expectAccepted(await send(1530))
    expectInvalid(await send(1531), /^(templateParameters|templateName|text)/)
  })

  test('WhatsApp: 4096 characters go, one more does not', async () => {
    const to = freshPhone()
    await c().openWindow(await c().addContact(to), c().lines.main.id, u.app.clock.now())
    for (const letter of ['a', '🐦']) {
      expectAccepted(await c().send(c().whatsappText(to, { text: letter.repeat(4096) })))
      expectInvalid(await c().send(c().whatsappText(to, { text: letter.repeat(4097) })), 'text')
    }
    expectInvalid(
      await c().send(
        c().whatsappText(to, { text: '@Joker1 '.padEnd(4096, 'a'), contact: { jokers: ['b'.repeat(8)] } }),
      ),
      'text',
    )
  })

  test('WhatsApp template: a body of 1024 characters goes, one more does not', async () => {
    const template = await c().addTemplate({
      channel: 'whatsapp',
      content: { body: 'Note: @Any', variables: ['Any'] },
    })
    const send = (length: number) =>
      c().send(
        c().whatsapp({
          templateName: template.name,
          templateParameters: [{ parameterName: 'Any', parameterValue: 'a'.repeat(length) }],
        }),
      )
    expectAccepted(await send(1024 - 'Note: '.length))
    expectInvalid(await send(1025 - 'Note: '.length), /^(templateParameters|templateName|text)/)
  })

  test('e-mail: a long text goes', async () => {
    expectAccepted(await c().send(c().email({ text: 'a'.repeat(200_000) })))
  })
})
