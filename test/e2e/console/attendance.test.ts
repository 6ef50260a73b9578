import { afterAll, beforeAll, expect } from 'vitest'
import { drawFlower } from '../../../src/flows/demo/pictures.ts'
import { browserTest } from '../../harness/browser.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  screenshot,
  startConsole,
  widths,
  type TestConsole,
} from '../../harness/console.ts'
import { xssGlobal, xssTexts } from '../../harness/hostile-texts.ts'
import { until } from '../../harness/http.ts'

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

type SandboxMessage = {
  id: string
  sequence: number
  text?: string
  whatsapp?: { text?: string; body?: string }
}

async function sandbox<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${console.quickstart.sandbox.url}/api${path}`, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  return JSON.parse(text) as T
}

/** On the phone of the sandbox, to the demo's first WhatsApp line. */
function write(from: string, text: string): Promise<unknown> {
  const line = console.quickstart.lines.find(({ channel }) => channel === 'whatsapp')!
  const to = `${line.countryCode}${line.phoneNumber}`
  return sandbox('POST', '/answers', { channel: 'whatsapp', from, to, text })
}

const inbox = (person: string, search: string): Promise<SandboxMessage> =>
  sandbox('GET', `/messages/wait?to=${person}&search=${encodeURIComponent(search)}&timeoutMs=20000`)

const contactOf = (phone: string): Promise<string> =>
  until(
    'the contact is there',
    async () =>
      ((await console.call('GET', `/contacts?q=${phone}`)).body as { items: { id: string }[] }).items[0]?.id,
    20_000,
  )

browserTest('somebody writes, is taken, answered, handed over and closed', async () => {
  const person = '5531922220001'
  await console.call('POST', '/contacts', { phone: person, name: 'Wilma Writes' })
  const page = await console.open({ role: 'supervisor', path: '/attendance?list=waiting' })
  await page.getByRole('heading', { name: 'Nobody waits' }).waitFor()
  await write(person, 'Where is my order?')
  // Live, without a reload.
  const people = page.getByRole('region', { name: 'People' })
  await people.getByRole('button', { name: /Wilma Writes.*Where is my order/s }).click()
  const desk = page.getByRole('region', { name: 'Conversation' })
  await desk.getByRole('article', { name: 'Received by WhatsApp' }).getByText('Where is my order?').waitFor()
  await desk
    .getByRole('timer')
    .filter({ hasText: /open for 23:5\d:\d\d/ })
    .waitFor()
  await desk.getByRole('button', { name: 'Take' }).click()
  await desk.getByText(/with you/).waitFor()
  await people.getByRole('heading', { name: 'Nobody waits' }).waitFor()
  await page.getByText('Mine', { exact: true }).click()
  await people.getByRole('img', { name: 'Not answered yet' }).waitFor()
  await expectAccessible(page)

  await desk.getByRole('textbox', { name: 'Message' }).fill('It left this morning.')
  await page.keyboard.press('Control+Enter')
  const bubble = desk.getByRole('article', { name: 'Sent by WhatsApp' })
  await bubble.getByText('It left this morning.').waitFor()
  expect(await desk.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')
  const got = await inbox(person, 'It left this morning.')
  await bubble.getByText('Delivered').waitFor()
  await people.getByRole('img', { name: 'Not answered yet' }).waitFor({ state: 'detached' })
  await sandbox('POST', `/messages/${got.id}/read`, {})
  await bubble.getByText('Read', { exact: true }).waitFor()
  await write(person, 'Thank you!')
  await desk.getByText('Thank you!').waitFor()
  await sandbox('POST', `/messages/${got.id}/file`, {
    kind: 'image',
    mimeType: 'image/png',
    filename: 'flower.png',
    base64: drawFlower([200, 40, 60]).toString('base64'),
  })
  // Fetched from the provider by the worker, and shown once it is here.
  await until(
    'the picture is shown',
    async () => (await page.evaluate(`document.querySelector('article img')?.naturalWidth`)) === 320,
    20_000,
  )
  await bubble.getByRole('link', { name: /Timeline/ }).click()
  await page.waitForURL('**/messages/msg_*')
  await page.goBack()

  await desk.getByRole('button', { name: 'Hand over' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'To' }).click()
  await page.getByRole('option', { name: 'ana (attendant)' }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Hand over' }).click()
  await page.getByText('They are with ana now.').waitFor()
  await desk.getByText(/with ana/).waitFor()
  await people.getByRole('heading', { name: 'Nobody is with you' }).waitFor()

  await desk.getByRole('button', { name: 'Close' }).click()
  await dialog.getByRole('button', { name: 'Yes, close' }).click()
  await desk.getByText('with nobody').waitFor()
  await page.goto(`/contacts/${await contactOf(person)}`)
  await page.getByText(/ana: .* closed by supervisor/).waitFor()
  await page.getByText(/supervisor .* handed over/).waitFor()
})

browserTest('a closed window says so and takes a template', async () => {
  const person = '5531922220002'
  await write(person, 'First word')
  const id = await contactOf(person)
  await console.db.query(
    `update contact_window set received_at = now() - interval '25 hours' where contact_id in (select id from contact where phone = $1)`,
    [`+${person}`],
  )
  const page = await console.open({ role: 'attendant', path: `/attendance?list=waiting&contact=${id}` })
  const desk = page.getByRole('region', { name: 'Conversation' })
  await desk.getByText('A template is needed').waitFor()
  await desk.getByText('WhatsApp window: closed 1 hour ago').waitFor()
  expect(await desk.getByRole('radio', { name: 'Text' }).isDisabled()).toBe(true)
  expect(await desk.getByRole('textbox', { name: 'Message' }).count()).toBe(0)
  expect(await desk.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  await expectAccessible(page)
  await desk.getByRole('combobox', { name: 'Template' }).click()
  await page.getByRole('option', { name: 'Delivery update' }).click()
  await desk.getByLabel('@OrderNumber').fill('4711')
  await desk.getByLabel('@Date').fill('Monday')
  await desk.getByText('Your order 4711 has left and should reach you on Monday.').waitFor()
  await desk.getByRole('button', { name: 'Send' }).click()
  await inbox(person, '4711')
  await desk.getByRole('article').filter({ hasText: '4711' }).getByText('Delivered').waitFor()
  // Their answer opens the window again, and free text is there.
  await write(person, 'Fine')
  await desk.getByRole('timer').waitFor()
  await desk.getByRole('textbox', { name: 'Message' }).waitFor()
})

browserTest(
  'what is refused is told in words; attendants leave others alone, viewers only look',
  async () => {
    const igor = await contactOf('5531988880002')
    await console.call('PATCH', `/contacts/${igor}`, { optedOutChannels: ['sms'] })
    const page = await console.open({
      role: 'attendant',
      path: `/attendance?list=all&contact=${igor}`,
      expected: /409/,
    })
    const desk = page.getByRole('region', { name: 'Conversation' })
    await desk.getByRole('button', { name: 'Take over' }).waitFor()
    expect(await desk.getByRole('button', { name: 'Hand over' }).count()).toBe(0)
    expect(await desk.getByRole('button', { name: 'Close' }).count()).toBe(0)
    await desk.getByText('SMS', { exact: true }).click()
    await desk.getByText('The person opted out of SMS').waitFor()
    await desk.getByRole('textbox', { name: 'Message' }).fill('Hello anyway')
    await desk.getByRole('button', { name: 'Send' }).click()
    await desk.getByRole('alert').getByText('The message was not sent').waitFor()
    await expectAccessible(page)

    const viewer = await console.open({ role: 'viewer', path: `/attendance?contact=${igor}` })
    const seen = viewer.getByRole('region', { name: 'Conversation' })
    await seen.getByText(/with ana/).waitFor()
    expect(await seen.getByRole('form', { name: 'Reply' }).count()).toBe(0)
    expect(await viewer.getByRole('radio', { name: 'Mine' }).count()).toBe(0)
    for (const name of ['Take over', 'Hand over', 'Close'])
      expect(await seen.getByRole('button', { name }).count(), name).toBe(0)
  },
)

browserTest('what people write is text, in lists and bubbles', async () => {
  const person = '5531922220003'
  const hostile = [xssTexts['imageError']!, xssTexts['closesTextarea']!, xssTexts['address']!]
  for (const text of hostile) await write(person, text)
  const id = await contactOf(person)
  await until(
    'all came',
    async () => {
      const { items } = (await console.call('GET', `/contacts/${id}/conversation`)).body as {
        items: unknown[]
      }
      return items.length === hostile.length
    },
    20_000,
  )
  await console.call('PATCH', `/contacts/${id}`, { name: xssTexts['svgLoad'] })
  const page = await console.open({
    role: 'administrator',
    path: `/attendance?list=waiting&contact=${id}`,
    width: widths.narrow,
  })
  for (const text of hostile) await page.getByRole('article').getByText(text, { exact: true }).waitFor()
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await page.getByText(xssTexts['svgLoad']!).waitFor()
  await expectNoSidewaysScroll(page)
  expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()
})

/** Both schemes and both widths, without every pair of them: axe takes its time. */
const looks = [
  { scheme: 'light', width: widths.wide },
  { scheme: 'dark', width: widths.narrow },
] as const

browserTest.each(looks)('attendance looks right, $width wide, $scheme', async ({ scheme, width }) => {
  const igor = await contactOf('5531988880002')
  const page = await console.open({ role: 'administrator', path: '/attendance', width, scheme })
  for (const [what, path, sign] of [
    ['attendance-mine', '/attendance', 'Nobody is with you'],
    ['attendance', `/attendance?list=all&contact=${igor}`, 'A template is needed'],
  ] as const) {
    await page.goto(path)
    await page.getByText(sign).first().waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `${what}-${width}-${scheme}`)
  }
})
