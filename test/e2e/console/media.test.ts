/** The media library: files go up with their progress, are refused in words, shown, used and removed. */
import type { Page } from 'playwright-core'
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
import { hostileFileNames, xssGlobal } from '../../harness/hostile-texts.ts'

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

/** Two by two, blue. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGNgYPj/n4GBgYEBAA0EAgB9e1NqAAAAAElFTkSuQmCC',
  'base64',
)
const file = (name: string, buffer = picture, mimeType = 'image/png') => ({ name, mimeType, buffer })

const tile = (page: Page, name: string | RegExp) =>
  page.getByRole('list', { name: 'Files' }).getByRole('button', { name })

browserTest('a picture is uploaded, shown, named by a template, and removed with a warning', async () => {
  const page = await console.open({ role: 'supervisor', path: '/media', expected: /400/ })
  const input = page.locator('input[type=file]')
  await input.setInputFiles([
    file('logo.png'),
    file('notes.txt', Buffer.from('text'), 'text/plain'),
    file('empty.png', Buffer.alloc(0)),
    file(`<img src=x onerror=window.${xssGlobal}=1>.png`),
    file(hostileFileNames['unicode']!),
  ])
  const uploads = page.getByRole('list', { name: 'Uploads' })
  await uploads.getByText(/Must end in one of \.png/).waitFor()
  await uploads.getByText('Must have from 1 to 5000000 bytes').waitFor()
  await tile(page, 'logo.png').waitFor()
  await tile(page, hostileFileNames['unicode']!).waitFor()
  expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()
  await expectAccessible(page)
  await screenshot(page, 'media-uploads-wide-light')

  await tile(page, 'logo.png').click()
  const dialog = page.getByRole('dialog', { name: 'logo.png' })
  await dialog.getByText('No template names its address').waitFor()
  const url = (await dialog.locator('code').textContent())!
  expect(url).toMatch(/\/media\/[0-9a-f]{32}\.png$/)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  const made = await console.call('POST', '/templates', {
    name: 'With logo',
    code: 'with-logo',
    channel: 'email',
    kind: 'text',
    content: { subject: 'Hello', body: `<img src="${url}" alt="">` },
  })
  expect(made.status).toBe(201)
  await page.reload()
  await tile(page, 'logo.png').click()
  await dialog.getByRole('link', { name: 'With logo' }).waitFor()
  await screenshot(page, 'media-detail-wide-light')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('1 template shows it and would show a hole.').waitFor()
  await page.getByRole('button', { name: 'Yes, remove' }).click()
  await tile(page, 'logo.png').waitFor({ state: 'detached' })
})

browserTest('filters live in the address; a viewer looks and does not touch', async () => {
  const page = await console.open({ role: 'viewer', path: '/media' })
  await tile(page, /\.png/).first().waitFor()
  expect(await page.getByRole('button', { name: 'Upload files' }).count()).toBe(0)
  await tile(page, /\.png/).first().click()
  await page.getByRole('dialog').getByText('Address', { exact: true }).waitFor()
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).count()).toBe(0)
  await page.goto('/media?kind=video')
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
})

browserTest.each(['light', 'dark'] as const)('the library looks right, %s', async (scheme) => {
  for (const [name, width] of Object.entries(widths)) {
    const page = await console.open({ role: 'administrator', path: '/media', width, scheme })
    await tile(page, /\.png/).first().waitFor()
    await expectNoSidewaysScroll(page)
    await expectAccessible(page)
    await screenshot(page, `media-${name}-${scheme}`)
  }
})
