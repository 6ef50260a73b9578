/** From the call to the timeline: messages are sent through the unified API and looked at in the console. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect } from 'vitest'
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
import { channelNumbers, logInToUnified, type UnifiedSender } from '../../harness/unified-sender.ts'

let console: TestConsole
let send: UnifiedSender
beforeAll(async () => {
  console = await startConsole()
  send = await logInToUnified(console.quickstart)
})
afterAll(() => console?.stop())

const sms = (phoneNumber: number, text: string) =>
  send({ channel: channelNumbers.sms, destination: { countryCode: 55, phoneNumber }, text })

/** In one of the states, as the admin API tells it. */
async function reached(messageId: unknown, ...states: string[]): Promise<void> {
  const state = async () =>
    ((await console.call('GET', `/messages/${String(messageId)}`)).body as { state: string }).state
  await expect.poll(state, { timeout: 20_000 }).toBeOneOf(states)
}

browserTest(
  'a message that is sent appears in the list by itself, is delivered, and has its timeline',
  async () => {
    const page = await console.open({ role: 'viewer', path: '/messages' })
    await page.getByRole('heading', { name: 'No messages in the last 7 days' }).waitFor()
    await page.getByRole('link', { name: 'How to send' }).waitFor()
    await expectAccessible(page)
    const { status, body } = await sms(31987651234, 'Your parcel is on its way.')
    expect(status).toBe(200)
    const row = page.getByRole('row').filter({ hasText: '5531987651234' })
    await row.getByText('Delivered').waitFor()
    await row.getByText('Your parcel is on its way.').waitFor()
    await row.getByRole('link', { name: 'Open the message to 5531987651234' }).click()

    await page.waitForURL(`**/messages/${String(body['messageId'])}`)
    const timeline = page.getByRole('list', { name: 'Timeline' })
    await timeline.getByText('Accepted', { exact: true }).waitFor()
    await timeline.getByText('Handed over to the provider').waitFor()
    await timeline.getByText('Delivered', { exact: true }).waitFor()
    await page.getByRole('article', { name: 'Sent by SMS' }).getByText('Your parcel is on its way.').waitFor()
    // A viewer sees everything and changes nothing.
    expect(await page.getByRole('button', { name: 'Resend' }).count()).toBe(0)
    await timeline.getByText('checks passed').click()
    await timeline.getByText('The recipient accepts messages on this channel.').waitFor()
    await page.getByText('Show as JSON').click()
    await page.getByRole('region', { name: 'Raw data' }).getByText(String(body['requestId'])).waitFor()
    await expectAccessible(page)
  },
)

browserTest('a page that is open while the message moves shows where it stands', async () => {
  // Long enough for a browser to have the page open before the report comes.
  await chaos({ sms: { receipts: { delayMs: 4_000 } } })
  const { body } = await sms(31987651235, 'Wait for me')
  await chaos({ sms: { receipts: { delayMs: 0 } } })
  const page = await console.open({ role: 'supervisor', path: `/messages/${String(body['messageId'])}` })
  await page.getByRole('list', { name: 'Timeline' }).getByText('Delivered', { exact: true }).waitFor()
  await page.getByText('Delivered', { exact: true }).first().waitFor()
})

const chaos = (dials: object) =>
  fetch(`${console.quickstart.sandbox.url}/api/chaos`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(dials),
  })

browserTest(
  'what a provider refuses shows its words and the exchange; what waits shows until when',
  async () => {
    const unknownSubscriber = 0x0b
    await chaos({ sms: { errors: [{ code: unknownSubscriber, rate: 1 }] } })
    const refused = await sms(31987651238, 'Refuse me')
    await reached(refused.body['messageId'], 'failed')
    await chaos({ sms: { errors: [] } })
    const page = await console.open({
      role: 'viewer',
      path: `/messages/${String(refused.body['messageId'])}`,
      // The rule that is gone.
      expected: /404/,
    })
    const why = page.getByRole('region', { name: 'Why it failed' })
    await why.getByText('The provider refused this message for good.').waitFor()
    await page.getByText('What was said to the provider').click()
    await page.getByText('We said').waitFor()
    await expectAccessible(page)
    await screenshot(page, 'message-failed')

    // Open at a time of the day that is far from now.
    const opening = (new Date().getUTCHours() * 60 + 720) % 1380
    const rule = await console.call('POST', '/rules', {
      kind: 'allowed_hours',
      name: 'Nightly',
      action: 'defer',
      channels: ['sms'],
      settings: {
        timeZone: 'UTC',
        weekdays: Array.from({ length: 7 }, () => [{ from: opening, to: opening + 60 }]),
      },
    })
    expect(rule.status).toBe(201)
    const waiting = await sms(31987651239, 'Later')
    await console.call('DELETE', `/rules/${(rule.body as { id: string }).id}`)
    await page.goto(`/messages/${String(waiting.body['messageId'])}`)
    const waits = page.getByRole('region', { name: 'Why it has not left yet' })
    await waits.getByText('Outside the hours of the rule "Nightly".').waitFor()
    await waits.getByText('The rule was removed since.').waitFor()
    await screenshot(page, 'message-waits')
  },
)

browserTest('a refused message says why, and leads to the list and the rule that refused it', async () => {
  const { phone } = console.quickstart.restricted
  const answer = await sms(Number(phone.slice(2)), 'Nobody reads this')
  expect(answer.status).toBe(400)
  expect(answer.body['message']).toContain('message not sent')
  const page = await console.open({ role: 'viewer', path: '/messages?state=blocked' })
  const row = page.getByRole('row').filter({ hasText: phone })
  await row.getByText('on the restriction list "Do not disturb"').waitFor()
  await row.getByRole('link').click()
  const why = page.getByRole('region', { name: 'Why it was refused' })
  await why.getByText('Phone number is on the restriction list "Do not disturb"').waitFor()
  await why.getByText('Phone number is on the restriction list "Complaints"').waitFor()
  await why.getByRole('link', { name: 'Rule "Do not disturb"' }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'message-refused')
  await why.getByRole('link', { name: 'Open the restriction list' }).first().click()
  await page.waitForURL('**/restriction-lists/lst_*')
})

browserTest('a message is resent as a new one, which tells where it came from', async () => {
  const { body } = await sms(31987651236, 'Twice')
  await reached(body['messageId'], 'delivered')
  const page = await console.open({ role: 'supervisor', path: `/messages/${String(body['messageId'])}` })
  await page.getByRole('button', { name: 'Resend' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The rules decide about it once more.').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('Sent again as a new message.').waitFor()
  await page.waitForURL((url) => !url.pathname.endsWith(String(body['messageId'])))
  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText('A copy of').waitFor()
  await timeline.getByText('Delivered', { exact: true }).waitFor()
  await timeline.getByRole('link', { name: String(body['messageId']).slice(0, 20) }).click()
  await timeline.getByText('Resent by a person').waitFor()
})

browserTest('filters live in the address, and what they find is exported as CSV', async () => {
  const { body } = await send({
    channel: channelNumbers.email,
    destination: { email: 'export@example.com' },
    emailSubject: 'For the file',
    text: 'Only this one',
  })
  await reached(body['messageId'], 'sent', 'delivered')
  const page = await console.open({ role: 'viewer', path: '/messages' })
  await page.getByLabel('Recipient', { exact: true }).fill('export@example.com')
  await page.waitForURL('**/messages?recipient=export%40example.com')
  await page.getByText('Of all time, as far as messages are kept.').waitFor()
  await page.getByRole('button', { name: 'More filters' }).click()
  await page.getByRole('combobox', { name: 'Sender' }).click()
  await page.getByRole('option', { name: console.quickstart.unified.username, exact: true }).click()
  await page.waitForURL(/senderId=usr_/)
  await page.getByRole('row').filter({ hasText: 'export@example.com' }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'messages-filters')
  await page.reload()
  await page.getByRole('row').filter({ hasText: 'export@example.com' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'Sender' }).inputValue()).toBe(
    console.quickstart.unified.username,
  )

  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('at most 1,000,000').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export' }).click(),
  ])
  await dialog.getByText('Done: 1 rows').waitFor()
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n')
  expect(lines).toHaveLength(2)
  expect(lines[1]).toContain(String(body['messageId']))
})

browserTest('an attendant reads messages but exports none and resends none', async () => {
  const { body } = await sms(31987651237, 'For all eyes')
  const page = await console.open({ role: 'attendant', path: '/messages' })
  await page.getByRole('row').filter({ hasText: '5531987651237' }).waitFor()
  expect(await page.getByRole('button', { name: 'Export' }).count()).toBe(0)
  await page.goto(`/messages/${String(body['messageId'])}`)
  await page.getByRole('list', { name: 'Timeline' }).waitFor()
  expect(await page.getByRole('button', { name: 'Resend' }).count()).toBe(0)
})

browserTest('hostile texts are shown as text, in lists, bubbles and e-mail', async () => {
  const hostile = Object.values(xssTexts)
    .join(' ')
    .replaceAll(/[^\x20-\x7e]/g, ' ')
  const { body } = await send({
    channel: channelNumbers.email,
    destination: { email: 'hostile@example.com' },
    emailSubject: xssTexts['scriptElement'],
    text: hostile,
  })
  const page = await console.open({
    role: 'administrator',
    path: '/messages?recipient=hostile@example.com',
    // The frame of the e-mail runs nothing; the browser says so.
    expected: /sandboxed|Content Security Policy|NotSameOrigin/,
  })
  await page.getByRole('row').filter({ hasText: 'hostile@example.com' }).waitFor()
  await page.goto(`/messages/${String(body['messageId'])}`)
  await page.getByRole('article', { name: 'Sent by E-mail' }).waitFor()
  await page.getByText('Show as JSON').click()
  expect(await page.evaluate(`globalThis.${xssGlobal}`)).toBeUndefined()
})

browserTest('a message that does not exist is said so', async () => {
  const page = await console.open({
    role: 'viewer',
    path: `/messages/msg_${'0'.repeat(32)}`,
    expected: /404/,
  })
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
})

browserTest('the log and a message look right, light and dark, wide and narrow', async () => {
  const { body } = await console.call('GET', '/messages?recipient=5531987651236&limit=1')
  const [{ id } = { id: '' }] = (body as { items: { id: string }[] }).items
  for (const [width, scheme] of [
    [widths.wide, 'dark'],
    [widths.narrow, 'light'],
  ] as const) {
    const page = await console.open({ role: 'supervisor', path: '/messages', width, scheme })
    await page.getByRole('cell').first().waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `messages-${width}-${scheme}`)
    await page.goto(`/messages/${id}`)
    await page.getByRole('list', { name: 'Timeline' }).waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `message-${width}-${scheme}`)
  }
})
