import { afterAll, beforeAll, expect } from 'vitest'
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

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

browserTest(
  'what quickstart.json gives opens the console, and one is led back to where one wanted to go',
  async () => {
    const page = await console.open({ path: '/segments?q=retail', expected: /401/ })
    await page.getByRole('heading', { name: 'Pombo' }).waitFor()
    await expectAccessible(page)
    const { company, username, password } = console.quickstart.console
    await page.getByLabel('Company').fill(company)
    await page.getByLabel('User').fill(username)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Segments' }).waitFor()
    expect(new URL(page.url()).search).toBe('?q=retail')

    await page.getByRole('button', { name: `Menu of ${username}` }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.goto('/audit')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  },
)

browserTest('a session that ends while a page is open leads to the door, without a fault', async () => {
  const page = await console.open({ role: 'viewer', path: '/messages', expected: /401/ })
  await page.getByRole('heading', { name: 'Messages', exact: true }).waitFor()
  await console.db.query('delete from admin_session')
  await page.getByRole('link', { name: 'Contacts', exact: true }).click()
  await page.waitForURL('**/sign-in?to=**')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await screenshot(page, 'session-ended')
})

browserTest('empty fields and a wrong password are said where they are', async () => {
  const page = await console.open({ path: '/sign-in', expected: /401/ })
  await page.getByRole('button', { name: 'Sign in' }).click()
  expect(await page.getByText('Fill this in.').count()).toBe(3)
  await page.getByLabel('Company').fill('Nobody')
  await page.getByLabel('User').fill('nobody')
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('Company, user or password is wrong.').waitFor()
  await expectAccessible(page)
})

browserTest('a second factor is asked for, a wrong code is refused at its field', async () => {
  const { company, username, password } = console.quickstart.console
  const secret = await setUpSecondFactor()
  const page = await console.open({ path: '/sign-in', expected: /401/ })
  await page.getByLabel('Company').fill(company)
  await page.getByLabel('User').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('This code is wrong or was used already.').waitFor()
  await expectAccessible(page)
  // The code of setting up was used; the one of the next half minute is good already.
  await page.getByLabel('Code').fill(totpCode(secret, totpStep(new Date()) + 1))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
})

/** By the API, as the account page does it. */
async function setUpSecondFactor(): Promise<string> {
  const { company, username, password } = console.quickstart.console
  const send = (method: string, path: string, body: unknown, cookie = '') =>
    fetch(`${console.url}/admin/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-pombo-console': '1', cookie },
      body: JSON.stringify(body),
    })
  const signedIn = await send('POST', '/session', { company, username, password })
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0]!
  const begun = await send('POST', '/account/totp', { currentPassword: password }, cookie)
  const { secret } = (await begun.json()) as { secret: string }
  const confirmed = await send(
    'PUT',
    '/account/totp',
    { code: totpCode(secret, totpStep(new Date())) },
    cookie,
  )
  expect(confirmed.status).toBe(200)
  return secret
}

browserTest.each(['light', 'dark'] as const)(
  'the door looks right on a phone and wide, %s',
  async (scheme) => {
    for (const [name, width] of Object.entries(widths)) {
      const page = await console.open({ path: '/sign-in', width, scheme })
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
      await screenshot(page, `sign-in-${name}-${scheme}`)
    }
  },
)

browserTest.each(['light', 'dark'] as const)(
  'the frame is usable on a phone and wide, %s',
  async (scheme) => {
    for (const [name, width] of Object.entries(widths)) {
      const page = await console.open({ role: 'administrator', width, scheme })
      await page.getByRole('heading', { name: 'Dashboard' }).waitFor()
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
      await screenshot(page, `dashboard-${name}-${scheme}`)
      if (width !== widths.narrow) continue
      await page.getByRole('button', { name: 'Open the navigation' }).click()
      await page.getByRole('link', { name: 'Segments' }).click()
      await page.getByRole('heading', { name: 'Segments' }).waitFor()
    }
  },
)

browserTest('a role is offered only what it may do, and a page visited anyway says so', async () => {
  const page = await console.open({ role: 'attendant', path: '/audit' })
  await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
  const links = await page
    .getByRole('navigation', { name: 'Main navigation' })
    .getByRole('link')
    .allTextContents()
  expect(links).toContain('Contacts')
  expect(links).not.toContain('Audit log')
  expect(links).not.toContain('Integration')
  await page.goto('/no/such/page')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
})
