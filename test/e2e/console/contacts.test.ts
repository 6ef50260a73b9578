import { afterAll, beforeAll, expect } from 'vitest'
import type { Page } from 'playwright-core'
import { browserTest } from '../../harness/browser.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  screenshot,
  startConsole,
  widths,
  type TestConsole,
} from '../../harness/console.ts'
import { hostileFileNames, strangeTexts, xssGlobal, xssTexts } from '../../harness/hostile-texts.ts'
import { until } from '../../harness/http.ts'

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

const makeContact = async (data: object): Promise<string> => {
  const made = await console.call('POST', '/contacts', data)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return (made.body as { id: string }).id
}

const choose = async (page: Page, select: string, option: string) => {
  await page.getByRole('combobox', { name: select }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

browserTest('a file is looked into, imported, and a line that was not taken is explained', async () => {
  const page = await console.open({ role: 'supervisor', path: '/contacts' })
  await page.getByRole('link', { name: 'Import', exact: true }).click()
  const file = (name: string, content: string) =>
    page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content, 'latin1') })
  await file('book.xlsx', 'PK\u0003\u0004')
  await page.getByText('This is a spreadsheet, not CSV').waitFor()
  await file('latin.csv', 'phone;name\n5531911110009;Jos\u00e9\n')
  await page.getByText('not UTF-8').waitFor()
  await file(
    'people.csv',
    'Telefone;name;e-mail;note\n5531911110001;Ana Imported;;x\n\n12;Too short;;y\n;;;\n',
  )
  await page.getByText('5531911110001 · 12').waitFor()
  await choose(page, 'Goes to: e-mail', 'Left out')
  await page.getByText('One of the columns must be the phone or the e-mail.').waitFor()
  expect(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true)
  await choose(page, 'Goes to: Telefone', 'Phone')
  await choose(page, 'Goes to: note', 'Phone')
  await page.getByText('Two columns go to “Phone”.').waitFor()
  await choose(page, 'Goes to: note', 'Joker 1')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('people.csv was imported').waitFor()
  // The number of the line in the file as it is, though its first line was replaced.
  await page.getByRole('row', { name: /^4 phone must be 8 to 15 digits/ }).waitFor()
  await page.getByRole('row', { name: /^5 phone and email are empty/ }).waitFor()
  await expectAccessible(page)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download as CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('bad-lines.csv')
  await page.reload()
  await page.getByText('people.csv was imported').waitFor()
  await page.goto('/contacts?q=ana%20imp')
  await page.getByRole('link', { name: 'Ana Imported' }).click()
  await page.getByRole('heading', { name: 'Ana Imported' }).waitFor()
  await page.getByRole('definition').filter({ hasText: /^x$/ }).waitFor()
})

browserTest('who may not import is not offered it, and told so', async () => {
  const page = await console.open({ role: 'attendant', path: '/contacts' })
  await page.getByRole('button', { name: 'New contact' }).waitFor()
  expect(await page.getByRole('link', { name: 'Import', exact: true }).count()).toBe(0)
  await page.goto('/contacts/import')
  await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
  const viewer = await console.open({
    role: 'viewer',
    path: `/contacts/${await makeContact({ email: 'v@example.com' })}`,
  })
  await viewer.getByRole('heading', { name: 'What they want to receive' }).waitFor()
  for (const name of ['Change', 'Send', 'Take', 'Erase this person', 'Download all of it'])
    expect(await viewer.getByRole('button', { name, exact: true }).count(), name).toBe(0)
})

browserTest('a contact is created, found, and changed, with errors at their fields', async () => {
  const page = await console.open({ role: 'attendant', path: '/contacts', expected: /400|409/ })
  await page.getByRole('button', { name: 'New contact' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Phone').fill('12')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('Must be 8 to 15 digits').waitFor()
  await dialog.getByLabel('Name').fill('Bruna Nova')
  await dialog.getByLabel('Phone').fill('+55 31 91111-0042')
  await dialog.getByLabel('Joker 2').fill('second')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'Bruna Nova' }).waitFor()
  await page.getByText('+5531911110042').first().waitFor()

  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog.getByLabel('E-mail').fill('not an address')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Is not an e-mail address').waitFor()
  await dialog.getByLabel('E-mail').fill('bruna@example.com')
  await dialog.getByRole('combobox', { name: 'Segment' }).click()
  await page.getByRole('option', { name: 'Office hours' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The contact was changed.').waitFor()
  await page.getByRole('definition').filter({ hasText: 'Office hours' }).waitFor()
  await page
    .getByRole('definition')
    .filter({ hasText: /^second$/ })
    .waitFor()

  await page.goto('/contacts')
  for (const beginning of ['bruna n', '+55 31 91111-004', 'BRUNA@']) {
    await page.getByLabel('Name, phone or e-mail').fill(beginning)
    await page.waitForURL((url) => url.searchParams.get('q') === beginning)
    await page.getByRole('link', { name: 'Bruna Nova' }).waitFor()
    await until('the others are gone', async () => (await page.getByRole('row').count()) === 2)
  }
  await page.getByRole('button', { name: 'New contact' }).click()
  await dialog.getByLabel('Phone').fill('5531911110042')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('There is a contact with this address').waitFor()
})

browserTest('what a person wants is switched, and a bounced mailbox is given another chance', async () => {
  const id = await makeContact({ email: 'gone@example.com', phone: '5531911110043', name: 'Carla' })
  await console.db.query(
    'update contact set email_bounced_at = now(), marketing_opted_out_at = now() where name = $1',
    ['Carla'],
  )
  const page = await console.open({ role: 'supervisor', path: `/contacts/${id}` })
  await page.getByText('This mailbox does not exist').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Clear the mark' }).click()
  await page.getByText('This mailbox does not exist').waitFor({ state: 'detached' })
  await page.getByLabel('May receive marketing on WhatsApp').click()
  await page.getByText('No marketing').waitFor({ state: 'detached' })
  await page.getByLabel('May receive SMS').click()
  await page.getByText('No SMS', { exact: true }).waitFor()
  expect((await console.call('GET', `/contacts/${id}`)).body).toMatchObject({
    optedOutChannels: ['sms'],
    marketingOptedOutAt: null,
    emailBouncedAt: null,
  })
  const reply = page.getByRole('form', { name: 'Reply' })
  await reply.getByText('SMS', { exact: true }).click()
  await reply.getByText('The person opted out of SMS').waitFor()
  await reply.getByRole('textbox', { name: 'Message' }).fill('Anyway')
})

browserTest('erasing says what is removed, and the person is gone', async () => {
  const id = await makeContact({ phone: '5531911110044', name: 'Dora Gone' })
  expect(
    (await console.call('POST', `/contacts/${id}/messages`, { channel: 'sms', text: 'Farewell' })).status,
  ).toBe(202)
  const page = await console.open({ role: 'supervisor', path: `/contacts/${id}`, expected: /404/ })
  await page.getByText('Farewell').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download all of it' }).click(),
  ])
  expect(download.suggestedFilename()).toBe(`${id}.json`)
  await page.getByRole('button', { name: 'Erase this person' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('everything the person wrote, with their files').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Yes, erase' }).click()
  await page.getByText('The person was erased, and one message emptied.').waitFor()
  await page.waitForURL('**/contacts')
  await page.getByRole('table').waitFor()
  expect(await page.getByText('Dora Gone').count()).toBe(0)
  await page.goto(`/contacts/${id}`)
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
})

browserTest('whatever people call themselves and write is shown as text', async () => {
  const texts = [...Object.values(xssTexts), strangeTexts['rightToLeft']!, strangeTexts['longWord']!]
  const id = await makeContact({
    phone: '5531911110045',
    email: 'hostile@example.com',
    name: xssTexts['imageError'],
    tag: xssTexts['svgLoad'],
    taxId: xssTexts['doubleQuoted'],
    jokers: [
      xssTexts['scriptElement'],
      xssTexts['iframeSource'],
      null,
      null,
      strangeTexts['long']!.slice(0, 3000),
    ],
  })
  await console.call('POST', `/contacts/${id}/messages`, {
    channel: 'email',
    subject: xssTexts['imageError'],
    text: xssTexts['scriptElement'],
  })
  const [line] = await console.db.query<{ id: string }>(
    `select id from line where company_id = $1 and channel = 'whatsapp' limit 1`,
    [console.companyId],
  )
  const [contact] = await console.db.query<{ id: string }>(
    `select id from contact where email = 'hostile@example.com'`,
  )
  for (const [place, text] of texts.entries())
    await console.db.query(
      `insert into inbound_message (id, company_id, line_id, contact_id, provider_id, kind, text, at, received_at)
        values (gen_random_uuid(), $1, $2, $3, $4, 'text', $5, now(), now())`,
      [console.companyId, line!.id, contact!.id, `hostile-${place}`, text],
    )
  await console.db.query(
    `insert into inbound_media (inbound_id, position, company_id, line_id, provider_media_id, mime_type, name, state, try_at)
      select m.id, n.place, m.company_id, m.line_id, 'x', 'image/svg+xml', n.name, 'failed', now()
      from inbound_message m, unnest($1::text[]) with ordinality as n(name, place) where m.provider_id = 'hostile-0'`,
    [Object.values(hostileFileNames).map((name) => name.replaceAll('\0', ''))],
  )
  for (const width of Object.values(widths)) {
    const page = await console.open({ role: 'administrator', path: `/contacts/${id}`, width })
    await page.getByRole('heading', { name: xssTexts['imageError']! }).waitFor()
    await page.getByRole('article').first().waitFor()
    await expectNoSidewaysScroll(page)
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe(xssTexts['imageError'])
    await page.goto('/contacts?q=%3Cimg')
    await page.getByRole('link', { name: xssTexts['imageError']! }).waitFor()
    await expectNoSidewaysScroll(page)
    expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()
  }
})

/** Both schemes and both widths, without every pair of them: axe takes its time. */
const looks = [
  { scheme: 'light', width: widths.wide },
  { scheme: 'dark', width: widths.narrow },
] as const

browserTest.each(looks)(
  'the pages of contacts look right, $width wide, $scheme',
  async ({ scheme, width }) => {
    const id = await makeContact({ email: `${scheme}@example.com`, name: `Person in ${scheme}`, tag: 'VIP' })
    const page = await console.open({ role: 'administrator', path: '/contacts', width, scheme })
    for (const [what, path, sign] of [
      ['contacts', '/contacts', `Person in ${scheme}`],
      ['contacts-none', '/contacts?q=nobody', 'Nothing found'],
      ['contact', `/contacts/${id}`, 'Nothing was said yet'],
      ['contact-import', '/contacts/import', 'Comma or semicolon'],
    ] as const) {
      await page.goto(path)
      await page.getByText(sign).first().waitFor()
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
      await screenshot(page, `${what}-${width}-${scheme}`)
    }
  },
)
