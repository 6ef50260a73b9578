/** The dashboard and the delivery reports: empty for newcomers, live, and with numbers that add up. */
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { raiseAlert } from '../../../src/store/alerts.ts'
import { browserTest } from '../../harness/browser.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  screenshot,
  startConsole,
  widths,
  type TestConsole,
} from '../../harness/console.ts'
import { channelNumbers, logInToUnified, type UnifiedSender } from '../../harness/unified-sender.ts'

let console: TestConsole
let send: UnifiedSender
beforeAll(async () => {
  console = await startConsole()
  send = await logInToUnified(console.quickstart)
})
afterAll(() => console?.stop())

browserTest(
  'a newcomer is told what to do; then numbers, chart, lines and trouble follow by themselves',
  async () => {
    const page = await console.open({ role: 'viewer', path: '/' })
    await page.getByRole('link', { name: 'Copy a call from the API reference' }).waitFor()
    await page.getByText('Nothing needs your attention.').waitFor()
    await screenshot(page, 'dashboard-empty')
    for (let count = 0; count < 3; count++)
      await send({
        channel: channelNumbers.sms,
        destination: { countryCode: 55, phoneNumber: 31987655000 + count },
        text: `Number ${count}`,
      })
    await send({
      channel: channelNumbers.sms,
      destination: { countryCode: 55, phoneNumber: Number(console.quickstart.restricted.phone.slice(2)) },
      text: 'Refused',
    })
    await page.getByRole('img', { name: /: 3 delivered, 0 failed, 1 refused/ }).waitFor({ timeout: 30_000 })
    await page
      .getByRole('link', { name: 'Copy a call from the API reference' })
      .waitFor({ state: 'detached' })
    await page.getByText('100%').waitFor()
    await page.getByRole('table', { name: 'Lines' }).getByText('Ready').first().waitFor()
    await page.getByRole('radiogroup', { name: 'Recent trouble' }).getByText('Blocked').click()
    await page.waitForURL(/trouble=blocked/)
    await page.getByText('on the restriction list "Do not disturb"').waitFor()
    await page.getByRole('radiogroup', { name: 'Range' }).getByText('7 days').click()
    await page.waitForURL(/range=week/)
    await page.getByText('By day, in the time zone of the company').waitFor()
  },
)

browserTest('an alert says what is wrong and leads there', async () => {
  const { body } = await console.call('GET', '/lines?channel=sms')
  const [line] = (body as { items: { id: string; name: string }[] }).items
  const { id, name } = line!
  const bare = id.replace('lin_', '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  await raiseAlert(
    console.db,
    {
      companyId: console.companyId,
      kind: 'line_paused',
      subject: bare,
      message: `Line ${name} is paused: <b>bind refused</b>`,
    },
    new Date(),
  )
  for (const [width, scheme] of [
    [widths.wide, 'light'],
    [widths.narrow, 'dark'],
  ] as const) {
    const page = await console.open({ role: 'administrator', path: '/?trouble=blocked', width, scheme })
    const alert = page.getByRole('region', { name: 'A line was paused' })
    await alert.getByText('<b>bind refused</b>').waitFor()
    await page.getByRole('img', { name: /3 delivered/ }).waitFor()
    await page.getByRole('table', { name: 'Lines' }).getByRole('link').first().waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `dashboard-${width}-${scheme}`)
    if (width === widths.wide) {
      await alert.getByRole('link', { name: 'Open the line' }).click()
      await page.waitForURL(`**/channels/${id}`)
    }
  }
})

browserTest('an attendant sees people and messages, not how the company is doing', async () => {
  const page = await console.open({ role: 'attendant', path: '/' })
  await page.getByRole('link', { name: 'Open attendance' }).waitFor()
  await page.getByRole('heading', { name: 'Recent trouble' }).waitFor()
  expect(await page.getByRole('heading', { name: 'Open alerts' }).count()).toBe(0)
  await page.goto('/reports')
  await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
})

browserTest('reports count by day and by line, with a total, and as a file', async () => {
  const page = await console.open({ role: 'viewer', path: '/reports' })
  const numbers = page.getByRole('region', { name: 'Numbers' })
  const total = numbers.getByRole('row', { name: /^Total/ })
  await total.waitFor()
  const cells = await total.getByRole('cell').allTextContents()
  // Accepted, sent, delivered, read, failed, expired, unknown, blocked.
  expect([cells[0], cells[2], cells[7]]).toEqual(['3', '3', '1'])

  await page.getByRole('combobox', { name: 'Group by' }).click()
  await page.getByRole('option', { name: 'Line', exact: true }).click()
  await page.waitForURL(/by=line/)
  await numbers.getByRole('rowheader', { name: 'SMS' }).waitFor()
  await page.getByRole('combobox', { name: 'then by' }).click()
  await page.getByRole('option', { name: 'Template', exact: true }).click()
  await numbers.getByRole('cell', { name: 'Free text' }).waitFor()
  await page.getByRole('button', { name: 'Sort by Delivered' }).click()
  await page.waitForURL(/sort=-delivered/)
  await expectAccessible(page)
  await screenshot(page, 'reports-lines')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download CSV' }).click(),
  ])
  const file = await readFile(await download.path(), 'utf8')
  expect(file).toMatch(/^line,template,line_name,template_name,queued,/)
  expect(file).toContain(',SMS,')

  await page.getByRole('combobox', { name: 'Channel', exact: true }).click()
  await page.getByRole('option', { name: 'WhatsApp' }).click()
  await page.getByRole('heading', { name: 'Nothing was counted' }).waitFor()
})

browserTest('a part that cannot be loaded says so, the rest goes on, and trying again helps', async () => {
  const page = await console.open({ role: 'viewer', path: '/segments', expected: /500/ })
  await page.route('**/admin/v1/reports**', (route) =>
    route.fulfill({ status: 500, json: { message: 'internal error', errors: {}, requestId: 'req_broken' } }),
  )
  await page.goto('/')
  await page.getByText('Its log knows this request as req_broken.').waitFor()
  await page.getByRole('table', { name: 'Lines' }).getByRole('link').first().waitFor()
  await screenshot(page, 'dashboard-broken')
  await page.unroute('**/admin/v1/reports**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('img', { name: /3 delivered/ }).waitFor()
})

browserTest('reports look right on a phone and in the dark', async () => {
  for (const [width, scheme] of [
    [widths.wide, 'dark'],
    [widths.narrow, 'light'],
  ] as const) {
    const page = await console.open({ role: 'viewer', path: '/reports', width, scheme })
    await page.getByRole('row', { name: /^Total/ }).waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `reports-${width}-${scheme}`)
  }
})
