/** Account, integration, users: secrets are shown, replaced and refused; people come in and are kept out. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { Page } from 'playwright-core'
import { totpCode, totpStep } from '../../../src/lib/totp.ts'
import { browserTest } from '../../harness/browser.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  screenshot,
  startConsole,
  widths,
  type TestConsole,
} from '../../harness/console.ts'
import { xssTexts } from '../../harness/hostile-texts.ts'

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

const post = async (path: string, body: unknown, token?: string) => {
  const answer = await fetch(`${console.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, body: (text ? JSON.parse(text) : {}) as Record<string, unknown> }
}

const sms = (platformPrivateToken: string) => ({
  platformPrivateToken,
  text: 'Hello',
  channel: 2,
  destination: { countryCode: 55, phoneNumber: 31987654321 },
})

const secretIn = async (page: Page): Promise<string> =>
  (await page.getByRole('status').locator('code').first().textContent()) ?? ''

browserTest(
  'an API user is created, logs in and sends; both private tokens are renewed and the old refused',
  async () => {
    const page = await console.open({ role: 'administrator', path: '/users', expected: /40\d/ })
    await page.getByRole('button', { name: 'New user' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('shop')
    await dialog.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: 'API user' }).click()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(/required/i).waitFor()
    await dialog.getByRole('button', { name: 'Suggest one' }).click()
    const password = await dialog.getByRole('textbox', { name: 'Password' }).inputValue()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('Give these to whoever will use them').waitFor()
    await screenshot(page, 'users-created')
    expect(await dialog.getByText(password, { exact: true }).count()).toBe(1)
    await dialog.getByRole('button', { name: 'I have kept it' }).click()

    const login = await post('/v1/login', {
      Company: console.quickstart.unified.company,
      Username: 'shop',
      Password: password,
    })
    expect(login.status).toBe(200)
    const token = String(login.body['access_token'])
    const former = console.quickstart.unified.platformPrivateToken
    expect((await post('/v1/sendmessage', sms(former), token)).status).toBe(200)

    await page.goto('/settings/account')
    await page.getByRole('button', { name: 'Show the private token' }).click()
    await page.getByText('That you have looked at it stands in the audit log.').waitFor()
    expect(await secretIn(page)).toBe(former)
    await page.getByRole('button', { name: 'Replace the private token' }).click()
    await page.getByLabel('Hours for which the old one stays good').fill('0')
    await page.getByRole('button', { name: 'Yes, replace' }).click()
    await page.getByText('The old one is dead from now on.').waitFor()
    const renewed = await secretIn(page)
    expect(renewed).not.toBe(former)
    expect((await post('/v1/sendmessage', sms(renewed), token)).status).toBe(200)
    expect((await post('/v1/sendmessage', sms(former), token)).status).toBe(400)

    await page.goto('/users?q=shop')
    await page.getByRole('link', { name: 'shop' }).click()
    await page.getByRole('button', { name: 'End API token' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End API token' }).click()
    await page.getByText('None now: the next login gives one').waitFor()
    expect((await post('/v1/sendmessage', sms(renewed), token)).status).toBe(401)
    await page.goto('/audit?noun=private_token')
    await page.getByRole('cell', { name: 'rotate private token' }).waitFor()
    await page.getByRole('cell', { name: 'show private token' }).waitFor()
  },
)

browserTest(
  'a direct token is generated with an allow list, renewed and revoked; the old is refused',
  async () => {
    const page = await console.open({
      role: 'administrator',
      path: '/settings/company?tab=tokens',
      expected: /400/,
    })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Generate a token' }).click()
    await dialog.getByLabel('Name').fill('Web shop')
    await dialog.getByLabel('Allowed addresses').fill('nonsense')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Generate a token' }).click()
    await dialog.getByText(/neither an IP address nor a range/).waitFor()
    await expectAccessible(page)
    await dialog.getByLabel('Allowed addresses').press('Backspace')
    await dialog.getByLabel('Allowed addresses').fill('127.0.0.0/8')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Generate a token' }).click()
    await dialog.getByText('Shown only now').waitFor()
    const first = await secretIn(page)
    const send = (token: string) =>
      post(
        '/v1/directmessage/sms',
        {
          recipient_number: '5531987654322',
          template_code: 'appointment-reminder',
          variable_values: { Date: '1 May', Time: '10:00' },
          contract_code: 'C-1',
        },
        token,
      )
    expect((await send(first)).status).toBe(202)
    await dialog.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('button', { name: 'Renew Web shop' }).click()
    await dialog.getByRole('button', { name: 'Renew', exact: true }).click()
    await dialog.getByText('Shown only now').waitFor()
    const second = await secretIn(page)
    expect((await send(first)).status).toBe(401)
    expect((await send(second)).status).toBe(202)
    await dialog.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('button', { name: 'Revoke Web shop' }).click()
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('cell', { name: 'Web shop', exact: true }).waitFor({ state: 'detached' })
    expect((await send(second)).status).toBe(401)
  },
)

browserTest('a second factor is set up and asked for; recovery codes are shown once', async () => {
  const { company } = console.quickstart.console
  const made = await console.call('POST', '/users', {
    name: 'careful',
    role: 'viewer',
    password: 'a long password',
  })
  expect(made.status).toBe(201)
  const page = await console.open({ path: '/settings/account', expected: /40\d/ })
  const signIn = async () => {
    await page.getByLabel('Company').fill(company)
    await page.getByLabel('User').fill('careful')
    await page.getByLabel('Password', { exact: true }).fill('a long password')
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await signIn()
  await page.getByRole('button', { name: 'Set up a second factor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Current password' }).fill('wrong')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByText('Is wrong').waitFor()
  await dialog.getByRole('textbox', { name: 'Current password' }).fill('a long password')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  const secret = ((await dialog.locator('code').first().textContent()) ?? '').replaceAll(' ', '')
  expect(await dialog.getByRole('link').getAttribute('href')).toContain(`secret=${secret}`)
  await expectAccessible(page)
  await screenshot(page, 'account-totp')
  await dialog.getByLabel('Code').fill('000000')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByText('Is wrong').waitFor()
  await dialog.getByLabel('Code').fill(totpCode(secret, totpStep(new Date())))
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByText('they are shown only now').waitFor()
  const codes = await dialog.getByRole('listitem').allTextContents()
  expect(codes.length).toBeGreaterThan(5)
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText(`${codes.length} recovery codes are left.`).waitFor()

  await page.getByRole('button', { name: 'Menu of careful' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await signIn()
  await page.getByLabel('Code').fill(totpCode(secret, totpStep(new Date()) + 1))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor()

  // An administrator lets them in again when the phone is lost.
  const { id } = made.body as { id: string }
  const admin = await console.open({ role: 'administrator', path: `/users/${id}` })
  await admin.getByText('In one browser').waitFor()
  await admin.getByRole('button', { name: 'Remove second factor' }).click()
  await admin.getByRole('dialog').getByRole('button', { name: 'Remove second factor' }).click()
  await admin.getByText('Not set up').waitFor()
  await admin.getByRole('button', { name: 'Suspend' }).click()
  await admin.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await admin.getByText('This user is suspended').waitFor()
  await page.goto('/settings/account')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
})

browserTest('one changes the password, sees the sessions and ends another', async () => {
  const page = await console.open({ role: 'supervisor', path: '/settings/account', expected: /400/ })
  // It may be this one that is signed out.
  await console.open({ role: 'supervisor', expected: /401/ })
  await page.reload()
  await page.getByText('This browser').waitFor()
  expect(await page.getByRole('button', { name: 'Show the private token' }).count()).toBe(0)
  await page.getByRole('textbox', { name: 'Current password' }).fill('nonsense')
  await page.getByRole('textbox', { name: 'New password' }).fill('short')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Is wrong').waitFor()
  await page
    .getByRole('button', { name: /^Sign out the session/ })
    .first()
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('The session was signed out.').waitFor()
})

browserTest('company, webhook and keys are set; the key opens what its scope says', async () => {
  const page = await console.open({
    role: 'administrator',
    path: '/settings/company',
    expected: /400|404/,
  })
  await page.getByLabel('Idle hours after which an attendance ends').fill('9')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The company was changed.').waitFor()
  await page.getByRole('tab', { name: 'Callbacks and webhook' }).click()
  await page.getByRole('textbox', { name: 'Address' }).fill('http://10.0.0.1/x')
  await page.getByRole('button', { name: 'Set webhook' }).click()
  await page.getByText(/10\.0\.0\.1.* private/i).waitFor()
  const caught = `${console.quickstart.sandbox.url}/catch/webhook`
  await page.getByText(caught).waitFor()
  await page.getByRole('textbox', { name: 'Address' }).fill(caught)
  await page.getByRole('button', { name: 'Set webhook' }).click()
  await page.getByText('The webhook has this new secret').waitFor()
  expect(await secretIn(page)).toMatch(/^whsec_/)
  await expectAccessible(page)
  await screenshot(page, 'company-webhook')
  await page.getByRole('button', { name: 'Replace the webhook secret' }).click()
  await page.getByRole('button', { name: 'Yes, replace' }).click()
  await page.getByText('The old one stays good for 24 more hours.').waitFor()
  await page.getByRole('button', { name: 'Remove webhook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Yes, remove' }).click()
  await page.getByText('No webhook is set.').waitFor()

  await page.getByRole('tab', { name: 'Admin API keys' }).click()
  await page.getByRole('button', { name: 'Create a key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Watcher')
  await dialog.getByLabel('Read the messages of one API user').check()
  await dialog.getByRole('button', { name: 'Create a key' }).click()
  await dialog.getByText(/must say whose messages/i).waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Read the messages of one API user').uncheck()
  await dialog.getByRole('button', { name: 'Create a key' }).click()
  await dialog.getByText('Shown only now').waitFor()
  const key = await secretIn(page)
  const read = (path: string) =>
    fetch(`${console.url}/admin/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  expect((await read('/messages')).status).toBe(200)
  expect((await read('/admin-keys')).status).toBe(403)
  await dialog.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('button', { name: 'Revoke Watcher' }).click()
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('The key was revoked.').waitFor()
  expect((await read('/messages')).status).toBe(401)
})

browserTest('roles that may not, cannot; hostile names are text', async () => {
  for (const [name, text] of Object.entries(xssTexts).slice(0, 8))
    await console.call('POST', '/users', {
      name: `${name} ${text}`.slice(0, 250),
      role: 'viewer',
      password: 'a long password',
    })
  const page = await console.open({ role: 'viewer', path: '/settings/company' })
  await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
  await page.goto('/users')
  await page
    .getByRole('cell', { name: /<script>|onerror/ })
    .first()
    .waitFor()
  expect(await page.getByRole('button', { name: 'New user' }).count()).toBe(0)
  await page.getByRole('link', { name: 'ana' }).click()
  await page.getByRole('heading', { name: 'ana' }).waitFor()
  expect(await page.getByRole('button', { name: /Suspend|Save|password/ }).count()).toBe(0)
})

browserTest.each(['light', 'dark'] as const)('settings and users look right, %s', async (scheme) => {
  for (const [name, width] of Object.entries(widths)) {
    const page = await console.open({
      role: 'administrator',
      path: '/settings/account',
      width,
      scheme,
      expected: /404/,
    })
    await page.getByText('This browser').waitFor()
    await look(page, `account-${name}-${scheme}`)
    for (const tab of ['company', 'tokens', 'webhook', 'keys']) {
      await page.goto(`/settings/company?tab=${tab}`)
      await page.locator('h2').first().waitFor()
      await look(page, `company-${tab}-${name}-${scheme}`)
    }
    await page.goto('/users')
    await page.getByRole('link', { name: 'ana' }).waitFor()
    await look(page, `users-${name}-${scheme}`)
    await page.getByRole('link', { name: 'ana' }).click()
    await page.getByText('Last seen').waitFor()
    await look(page, `user-${name}-${scheme}`)
  }
})

async function look(page: Page, name: string): Promise<void> {
  await expectNoSidewaysScroll(page)
  await screenshot(page, name)
  // Half of the four: the other two differ in nothing that the rules look at.
  if (/wide-dark|narrow-light/.test(name)) await expectAccessible(page)
}
