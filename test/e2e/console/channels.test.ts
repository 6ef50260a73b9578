import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
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
import { until } from '../../harness/http.ts'

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

type Peers = { smpp: { systemId: string; password: string }; ports: { smpp: number } }
const peers = async (): Promise<Peers> =>
  JSON.parse(await readFile(join(console.dataDir, 'sandbox', 'sandbox.json'), 'utf8')) as Peers

type Found = { items: { id: string; name: string; channel: string }[] }
const lines = async () => ((await console.call('GET', '/lines')).body as Found).items
const lineNamed = async (name: string) => (await lines()).find((line) => line.name === name)!

async function fillSmppLine(page: Page, name: string, phoneNumber: string) {
  const { smpp, ports } = await peers()
  await page.getByRole('combobox', { name: 'Driver' }).click()
  await page.getByRole('option', { name: 'SMPP' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
  await page.getByRole('textbox', { name: 'Number', exact: true }).fill(phoneNumber)
  await page.getByRole('textbox', { name: 'Server', exact: true }).fill('127.0.0.1')
  await page.getByRole('textbox', { name: 'Port', exact: true }).fill(String(ports.smpp))
  await page.locator('input[name=password]').fill(smpp.password)
  return smpp.systemId
}

/** A message of the unified API over the line with this number. */
async function sendSms(recipient: string, lineNumber: number): Promise<string> {
  const { unified } = console.quickstart
  const json = { 'content-type': 'application/json' }
  const login = await fetch(`${unified.baseUrl}/v1/login`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({
      Company: unified.company,
      Username: unified.username,
      Password: unified.password,
    }),
  })
  const { access_token: token } = (await login.json()) as { access_token: string }
  const sent = await fetch(`${unified.baseUrl}/v1/sendmessage`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${token}` },
    body: JSON.stringify({
      platformPrivateToken: unified.platformPrivateToken,
      text: 'Over the new line',
      channel: 2,
      source: { countryCode: 55, phoneNumber: lineNumber },
      destination: { countryCode: 55, phoneNumber: Number(recipient) },
      contact: { name: 'Maria' },
    }),
  })
  const body = (await sent.json()) as { messageId?: string }
  expect(sent.status, JSON.stringify(body)).toBe(200)
  return body.messageId!
}

browserTest('a line is made from its driver’s schema, tested, and carries messages', async () => {
  // The SMSC has one account, and sends receipts to any of its sessions: the demo's own must not be there.
  const { id: demoLine } = await lineNamed('SMS')
  await console.call('PATCH', `/lines/${demoLine}`, { isEnabled: false })
  onTestFinished(async () => void (await console.call('PATCH', `/lines/${demoLine}`, { isEnabled: true })))
  const page = await open({ role: 'administrator', path: '/channels', expected: /400/ })
  await page.getByRole('link', { name: 'New line' }).click()
  const systemId = await fillSmppLine(page, 'Second SMSC', '31987650099')
  await page.getByRole('button', { name: 'Create' }).click()
  // The server's word, at the very field of the driver's schema.
  await page.getByText('Is required').waitFor()
  const input = page.getByLabel('System id')
  expect(await input.getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(page)
  await input.fill(systemId)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'Second SMSC', level: 1 }).waitFor()
  await page.getByText('Working').waitFor()
  await page.getByText(`Bound as ${systemId}.`).waitFor()

  await page.getByRole('tab', { name: 'Test' }).click()
  await page.getByLabel('Recipient').fill('12')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page
    .getByText(/must be|digits/i)
    .first()
    .waitFor()
  await page.getByLabel('Recipient').fill('+55 31 98123-0001')
  await page.getByRole('textbox', { name: 'Text' }).fill('Is this line well?')
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Delivered. This line works.').waitFor()
  await page.getByText('Handed over to the provider').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'channels-tested')

  const messageId = await sendSms('31981230002', 31987650099)
  const line = await lineNamed('Second SMSC')
  await until('delivered over the new line', async () => {
    const { body } = await console.call('GET', `/messages/${messageId}`)
    const { state, lineId } = body as { state: string; lineId: string }
    return state === 'delivered' && lineId === line.id ? true : undefined
  })

  // It has carried messages: it cannot be removed, and the page says what to do instead.
  const again = await open({
    role: 'administrator',
    path: `/channels/${line.id}?tab=settings`,
    expected: /409/,
  })
  await again.getByRole('button', { name: 'Remove line' }).click()
  await again.getByRole('button', { name: 'Yes, remove' }).click()
  await again.getByText('It has carried messages').waitFor()
  await again.getByRole('button', { name: 'Switch it off instead' }).click()
  await again.getByText('The line is off.').waitFor()
})

browserTest('secrets are kept unless they are changed, and never shown', async () => {
  const page = await open({ role: 'administrator', path: '/channels', expected: /400/ })
  await page.getByRole('link', { name: 'SMS', exact: true }).click()
  await page.getByRole('tab', { name: 'Settings' }).click()
  const password = page.locator('input[name=password]')
  await password.waitFor()
  expect(await password.inputValue()).toBe('')
  expect(await password.getAttribute('placeholder')).toContain('Leave empty to keep it')
  await page.getByLabel('Window').fill('0')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Must be >= 1').waitFor()
  await page.getByLabel('Window').fill('25')
  await page.getByLabel('Rate').fill('40')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The line was changed.').waitFor()
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByText('Bound as sandbox.').waitFor()
})

browserTest('a line is paused with a reason and resumed, and others see it live', async () => {
  const watching = await open({ role: 'viewer', path: '/channels' })
  await watching.getByText('Bound as sandbox.').first().waitFor()
  expect(await watching.getByRole('button', { name: /^Pause/ }).count()).toBe(0)
  const page = await open({ role: 'supervisor', path: '/channels' })
  await page.getByRole('button', { name: 'Pause E-mail' }).click()
  await page.getByLabel('Reason').fill('The mail server moves tonight')
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText('E-mail is paused.').waitFor()
  await watching.getByText('The mail server moves tonight').waitFor()
  await page.getByRole('button', { name: 'Resume E-mail' }).click()
  await page.getByText('E-mail goes on.').waitFor()
  await watching.getByText('The mail server moves tonight').waitFor({ state: 'detached' })

  await page.goto(`/channels/${(await lineNamed('E-mail')).id}?tab=history`)
  await page.getByText('pause: The mail server moves tonight').waitFor()
})

browserTest('failover lines are put in order by keyboard', async () => {
  const { id } = await lineNamed('WhatsApp')
  const page = await open({ role: 'administrator', path: `/channels/${id}?tab=settings` })
  for (const name of ['WhatsApp prospects 1', 'WhatsApp prospects 2']) {
    await page.getByPlaceholder('Add a line').click()
    await page.getByRole('option', { name }).click()
  }
  await page.getByRole('button', { name: 'Move WhatsApp prospects 2 up' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The line was changed.').waitFor()
  const named = await Promise.all(['WhatsApp prospects 2', 'WhatsApp prospects 1'].map(lineNamed))
  const { body } = await console.call('GET', `/lines/${id}`)
  expect((body as { failoverLineIds: string[] }).failoverLineIds).toEqual(named.map((line) => line.id))
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByText('/hooks/whatsapp-cloud/').waitFor()
  await page.getByText('Nobody can show it again').waitFor()
})

browserTest('hostile names are shown as text; attendants see lines and change nothing', async () => {
  const name = xssTexts['imageError']!
  const made = await console.call('POST', '/lines', {
    name,
    driver: 'smtp',
    email: 'hostile@pombo.example',
    isEnabled: false,
    settings: { host: 'mail.example', fromName: xssTexts['scriptElement'] },
  })
  expect(made.status).toBe(201)
  const { id } = made.body as { id: string }
  const page = await open({ role: 'attendant', path: '/channels' })
  await page.getByText(name).waitFor()
  expect(await page.getByRole('link', { name: 'New line' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: /Pause|Resume/ }).count()).toBe(0)
  await page.goto(`/channels/${id}`)
  await page.getByRole('heading', { name }).waitFor()
  expect(await page.getByRole('tab').count()).toBe(0)
  await page.goto('/channels/new')
  await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
  expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()
})

browserTest.each(['light', 'dark'] as const)('channels look right, %s', async (scheme) => {
  const { id } = await lineNamed('SMS')
  const { id: whatsApp } = await lineNamed('WhatsApp')
  for (const [name, width] of Object.entries(widths)) {
    const page = await open({ role: 'administrator', path: '/channels', width, scheme })
    await page.getByText('Bound as sandbox.').first().waitFor()
    await look(page, `channels-${name}-${scheme}`)
    await page.goto(`/channels/${whatsApp}`)
    await page.getByText('Reports from the provider').waitFor()
    await look(page, `channel-${name}-${scheme}`)
    await page.goto(`/channels/${id}?tab=settings`)
    await page.getByLabel('System id').waitFor()
    await look(page, `channel-settings-${name}-${scheme}`)
  }
})

async function look(page: Page, name: string) {
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await screenshot(page, name)
}
