import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { browserTest } from '../../harness/browser.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  screenshot,
  startConsole,
  widths,
  type OpenOptions,
  type TestConsole,
} from '../../harness/console.ts'
import { xssGlobal, xssTexts } from '../../harness/hostile-texts.ts'

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

/** Patient, since the machine may be busy. */
async function open(options: OpenOptions): Promise<Page> {
  const page = await console.open(options)
  page.setDefaultTimeout(30_000)
  return page
}

const template = () =>
  console.quickstart.templates.find(({ channel, kind }) => channel === 'sms' && kind === 'text')!

async function sendDirect(recipient: string): Promise<{ status: number; text: string }> {
  const { direct } = console.quickstart
  const { code, variables } = template()
  const answer = await fetch(`${direct.baseUrl}/v1/directmessage/sms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${direct.token}` },
    body: JSON.stringify({
      recipient_number: recipient,
      template_code: code,
      variable_values: Object.fromEntries(variables.map((name) => [name, 'x'])),
      contract_code: 'CT-1',
    }),
  })
  return { status: answer.status, text: await answer.text() }
}

browserTest('a list is filled and looked at by a rule, and sends are refused for it in words', async () => {
  const recipient = '5531981110001'
  const page = await open({ role: 'supervisor', path: '/restriction-lists', expected: /400|409/ })
  await page.getByRole('button', { name: 'New list' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Lawsuits')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Lawsuits' }).waitFor()
  await page.getByText('No rule looks at this list').waitFor()

  await page.getByRole('button', { name: 'Add entry' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Value').fill('12')
  await dialog.getByRole('button', { name: 'Add entry' }).click()
  await dialog.getByText(/Phone number must/).waitFor()
  await dialog.getByLabel('Value').fill('+55 (31) 98111-0001')
  await dialog.getByRole('button', { name: 'Add entry' }).click()
  await page.getByRole('cell', { name: recipient, exact: true }).waitFor()
  await expectAccessible(page)
  expect((await sendDirect(recipient)).status).toBe(202)

  await page.getByRole('link', { name: 'Make a rule for it' }).click()
  await dialog.getByLabel('Name').fill('Leave lawsuits alone')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByText('The rule was created.').waitFor()
  await page.getByText(/on the list “Lawsuits”/).waitFor()

  await expect.poll(async () => (await sendDirect(recipient)).status, { timeout: 15_000 }).toBe(409)
  expect((await sendDirect(recipient)).text).toContain('Lawsuits')

  await page.getByRole('tab', { name: 'Try a recipient' }).click()
  await page.getByRole('textbox', { name: 'Recipient' }).fill('55 31 8111-0001')
  await page.getByRole('button', { name: 'Try', exact: true }).click()
  await page.getByText('It would be refused.').waitFor()
  const row = page.getByRole('row', { name: /Leave lawsuits alone/ })
  await row.getByText('Refuses').waitFor()
  await row.getByText('Phone number is on the restriction list "Lawsuits".').waitFor()
  await row.getByText(`Matched: phone ${recipient}`).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'rules-tried')
  await page.getByRole('textbox', { name: 'Recipient' }).fill('55 31 98111-0002')
  await page.getByRole('button', { name: 'Try', exact: true }).click()
  await page.getByText('It would be accepted and sent.').waitFor()

  await page.goto('/restriction-lists')
  await page.getByLabel('Number, address, document or contract').fill('+55 31 98111-0001')
  await page.getByRole('button', { name: 'Look up' }).click()
  await page.getByText('is restricted by 1 entry').waitFor()
  await page.getByText(`The phone number ${recipient} is on it.`).waitFor()

  // A list that a rule looks at stays; once the rule is off, the message leaves.
  await page.getByRole('link', { name: 'Lawsuits' }).first().click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: 'Yes, remove' }).click()
  await page.getByText(/rules look at it: Leave lawsuits alone/i).waitFor()
  await page.goto('/rules')
  await page.getByRole('switch', { name: 'Switch Leave lawsuits alone off' }).click({ force: true })
  await page.getByText('Leave lawsuits alone is off.').waitFor()
  await expect.poll(async () => (await sendDirect(recipient)).status, { timeout: 15_000 }).toBe(202)
})

browserTest('rules of several kinds are made, changed, put in order and removed', async () => {
  const page = await open({ role: 'supervisor', path: '/rules', expected: /400/ })
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'New rule' }).click()
  await dialog.getByRole('combobox', { name: 'Kind' }).click()
  await page.getByRole('option', { name: 'Allowed hours' }).click()
  await dialog.getByLabel('Name').fill('Days only')
  await dialog.getByLabel('Monday, span 1, from').fill('20:00')
  await dialog.getByLabel('Monday, span 1, to').fill('08:00')
  await dialog.getByLabel('Days on which nothing leaves').fill('2030-12-25')
  await dialog.getByRole('button', { name: 'Add date' }).click()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/Must go from a minute of the day to a later one/).waitFor()
  await dialog.getByLabel('Monday, span 1, from').fill('09:00')
  await dialog.getByLabel('Monday, span 1, to').fill('18:30')
  await dialog.getByRole('button', { name: 'Monday’s hours for Tuesday to Friday' }).click()
  await dialog.getByLabel('Hold it back until it may leave').click()
  await expectAccessible(page)
  await screenshot(page, 'rules-hours')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByText(/Holds back messages outside Mon–Fri 09:00–18:30, nor on 1 holiday/).waitFor()

  await page.getByRole('button', { name: 'Move Days only up' }).click()
  await page.getByText('The order was changed.').waitFor()
  await expect
    .poll(async () => {
      const { body } = await console.call('GET', '/rules')
      const names = (body as { items: { name: string }[] }).items.map(({ name }) => name)
      return names.indexOf('Days only') < names.length - 1
    })
    .toBe(true)

  await page.getByRole('button', { name: 'Change Three a day' }).click()
  await dialog.getByLabel('At most').fill('5')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/what goes beyond 5 messages per day/).waitFor()

  await page.getByRole('button', { name: 'Remove Days only' }).click()
  await page.getByRole('button', { name: 'Yes, remove' }).click()
  await page.getByText('The rule was removed.').waitFor()
})

browserTest('a file with bad lines goes in, its bad lines are shown with the reason', async () => {
  const made = await console.call('POST', '/restriction-lists', { name: 'Imported' })
  const { id } = made.body as { id: string }
  const lines = ['field,value,match,expires_at']
  for (let index = 0; index < 5000; index++) lines.push(`phone,55319${String(80_000_000 + index)},exact,`)
  lines.push('phone,12,exact,', 'fax,5531980000000,exact,', 'phone,5511,prefix,')
  const page = await open({ role: 'supervisor', path: `/restriction-lists/${id}` })
  await page.getByRole('button', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  const chooser = page.waitForEvent('filechooser')
  await dialog.getByLabel('File').click()
  await (
    await chooser
  ).setFiles({ name: 'many.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })
  await dialog.getByRole('button', { name: 'Import' }).click()
  await page.getByText('5,001 added, 0 changed, 0 there already, 2 rejected').waitFor()
  const bad = page.getByRole('table', { name: 'Rejected lines' })
  await bad.getByText('5,002').waitFor()
  await bad.getByText(/phone number must be/i).waitFor()
  await page.getByRole('link', { name: 'Download all rejected lines' }).waitFor()
  await page.getByText('Entries: 5,001').waitFor()
  await page.getByRole('cell', { name: '5531980000000', exact: true }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'list-imported')

  await page.getByLabel('Find a value').fill('+55 31 98000-4321')
  await page.getByRole('cell', { name: '5531980004321', exact: true }).waitFor()
  await page.getByLabel('Find a value').fill('nobody')
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
})

browserTest('stop words of the company take the place of the usual ones', async () => {
  const page = await open({ role: 'supervisor', path: '/restriction-lists?tab=stopWords' })
  await page.getByText(/Usual words: STOP, /).waitFor()
  await page.getByRole('combobox', { name: 'Opt out' }).fill('Chega')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The words hold from now on.').waitFor()
  expect((await console.call('GET', '/company/stop-words')).body).toMatchObject({ stop: ['Chega'] })
})

browserTest('viewers look and change nothing, attendants do not even look; names are text', async () => {
  const name = xssTexts['svgLoad']!
  await console.call('POST', '/rules', {
    kind: 'duplicate',
    name,
    isEnabled: false,
    settings: { withinMinutes: 90 },
  })
  const made = await console.call('POST', '/restriction-lists', { name: xssTexts['doubleQuoted'] })
  const page = await open({ role: 'viewer', path: '/rules' })
  await page.getByText(name).waitFor()
  expect(await page.getByRole('button', { name: /^(New|Change|Remove|Move)/ }).count()).toBe(0)
  expect(await page.getByRole('switch').count()).toBe(0)
  await page.goto(`/restriction-lists/${(made.body as { id: string }).id}`)
  await page.getByRole('heading', { name: xssTexts['doubleQuoted']! }).waitFor()
  expect(await page.getByRole('button', { name: /^(Add|Import|Rename|Remove)/ }).count()).toBe(0)
  await page.goto('/restriction-lists?tab=stopWords')
  await page
    .getByText(/Usual words/)
    .first()
    .waitFor()
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()

  const attendant = await open({ role: 'attendant', path: '/rules' })
  await attendant.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
  await attendant.goto('/restriction-lists')
  await attendant.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
})

browserTest.each(['light', 'dark'] as const)('rules and restriction lists look right, %s', async (scheme) => {
  const { body } = await console.call('GET', '/restriction-lists?q=disturb')
  const [list] = (body as { items: { id: string }[] }).items
  for (const [name, width] of Object.entries(widths)) {
    const page = await open({ role: 'administrator', path: '/rules', width, scheme })
    await page.getByText('Three a day').waitFor()
    await look(page, `rules-${name}-${scheme}`)
    await page.goto('/rules?tab=try')
    await page.getByRole('textbox', { name: 'Recipient' }).waitFor()
    await look(page, `rules-try-${name}-${scheme}`)
    await page.goto('/restriction-lists')
    await page.getByRole('link', { name: 'Do not disturb' }).waitFor()
    await look(page, `restriction-lists-${name}-${scheme}`)
    await page.goto(`/restriction-lists/${list!.id}`)
    await page.getByRole('cell', { name: '5531977770000', exact: true }).waitFor()
    await look(page, `restriction-list-${name}-${scheme}`)
  }
})

async function look(page: Page, name: string) {
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await screenshot(page, name)
}
