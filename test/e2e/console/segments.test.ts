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

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

browserTest('a segment is created, changed and removed, and the audit log knows it', async () => {
  const page = await console.open({ role: 'supervisor', path: '/segments', expected: /409|400/ })
  await page.getByRole('button', { name: 'New segment' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('Is required').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Name').fill('Northern shops')
  await dialog.getByLabel('Client code').fill('N1')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByText('The segment was created.').waitFor()
  await page.getByRole('cell', { name: 'Northern shops', exact: true }).waitFor()

  await page.getByRole('button', { name: 'Change Northern shops' }).click()
  await dialog.getByLabel('Name').fill('Southern shops')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('cell', { name: 'Southern shops', exact: true }).waitFor()

  await page.getByRole('button', { name: 'Remove Southern shops' }).click()
  await dialog.getByRole('button', { name: 'Yes, remove' }).click()
  await page.getByRole('cell', { name: 'Southern shops', exact: true }).waitFor({ state: 'detached' })

  await page.goto('/audit?noun=segment')
  await page.getByRole('cell', { name: 'remove segment' }).waitFor()
  await page.getByRole('cell', { name: 'change segment' }).waitFor()
  await page.getByRole('cell', { name: 'create segment' }).waitFor()
  await page.getByText('Show details').first().click()
  await expectAccessible(page)
})

browserTest('a change that somebody was quicker with is refused in words', async () => {
  const made = await console.call('POST', '/segments', { name: 'Contested' })
  const { id } = made.body as { id: string }
  const page = await console.open({ role: 'supervisor', path: '/segments', expected: /412/ })
  await page.getByRole('button', { name: 'Change Contested' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Mine')
  expect((await console.call('PATCH', `/segments/${id}`, { name: 'Contested by another' })).status).toBe(200)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').getByText('Somebody has changed this in the meantime').waitFor()
})

browserTest.each(['light', 'dark'] as const)('segments and audit log look right, %s', async (scheme) => {
  for (const [name, width] of Object.entries(widths)) {
    const page = await console.open({ role: 'administrator', path: '/segments', width, scheme })
    await page.getByRole('cell').first().waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `segments-${name}-${scheme}`)
    await page.goto('/audit')
    await page
      .getByRole('cell', { name: /sign in|segment/i })
      .first()
      .waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `audit-${name}-${scheme}`)
  }
})

// Last: axe takes its time over the long lists that this makes.
browserTest('filter, order and page live in the address; back goes back', async () => {
  for (let number = 0; number < 55; number++)
    await console.call('POST', '/segments', { name: `Branch ${String(number).padStart(2, '0')}` })
  const page = await console.open({ role: 'viewer', path: '/segments' })
  await page.getByLabel('Name or client code').fill('branch')
  await page.waitForURL('**/segments?q=branch')
  await page.getByRole('cell', { name: 'Branch 49' }).waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('cell', { name: 'Branch 54' }).waitFor()
  expect(page.url()).toContain('cursor=')
  await page.reload()
  await page.getByRole('cell', { name: 'Branch 54' }).waitFor()
  await page.getByRole('button', { name: 'Previous' }).click()
  await page.getByRole('cell', { name: 'Branch 00' }).waitFor()
  await page.getByRole('button', { name: 'Sort by Name' }).click()
  await page.getByRole('cell', { name: 'Branch 54' }).waitFor()
  expect(new URL(page.url()).searchParams.get('order')).toBe('desc')
  expect(await page.getByRole('button', { name: 'New segment' }).count()).toBe(0)
  await page.getByLabel('Name or client code').fill('nowhere')
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
})
