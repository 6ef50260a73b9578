/** Templates: each kind is built in the editor, sent through the Unified API to the demo's sandbox, and delivered. */
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
import { xssGlobal, xssTexts } from '../../harness/hostile-texts.ts'

let console: TestConsole
let token: string
beforeAll(async () => {
  console = await startConsole()
  const { company, username, password } = console.quickstart.unified
  const answer = await fetch(`${console.url}/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ Company: company, Username: username, Password: password }),
  })
  token = ((await answer.json()) as { access_token: string }).access_token
})
afterAll(() => console?.stop())

const channelNumbers = { email: 1, sms: 2, whatsapp: 3 }

/** Through the Unified API, as a customer's program would, until it is delivered. */
async function sendUntilDelivered(
  channel: keyof typeof channelNumbers,
  templateName: string,
  templateParameters: { parameterName: string; parameterValue: string }[],
  phoneNumber: number,
): Promise<void> {
  const destination =
    channel === 'email' ? { email: `${phoneNumber}@example.com` } : { countryCode: 55, phoneNumber }
  const answer = await fetch(`${console.url}/v1/sendmessage`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      platformPrivateToken: console.quickstart.unified.platformPrivateToken,
      channel: channelNumbers[channel],
      text: '',
      destination,
      templateName,
      templateParameters,
      contact: { name: 'Maria Silva' },
    }),
  })
  expect(answer.status, await answer.clone().text()).toBe(200)
  const recipient = channel === 'email' ? destination.email : `55${phoneNumber}`
  await expect
    .poll(
      async () => {
        const { body } = await console.call('GET', `/messages?recipient=${encodeURIComponent(recipient!)}`)
        return (body as { items: { state: string }[] }).items[0]?.state
      },
      { timeout: 15_000, interval: 200 },
    )
    .toMatch(/^(delivered|read)$/)
}

const parameters = (values: Record<string, string>) =>
  Object.entries(values).map(([parameterName, parameterValue]) => ({ parameterName, parameterValue }))

/** Runs in the page. */
const colorOf = (element: unknown): string =>
  (globalThis as unknown as { getComputedStyle(of: unknown): { color: string } }).getComputedStyle(element)
    .color

async function create(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create template' }).click()
  await page.waitForURL(/\/templates\/tpl_/)
  await page.getByRole('button', { name: 'Save changes' }).waitFor()
}

/** Hands it in, and sees the sandbox approve it without a reload. */
async function approve(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Submit for approval' }).click()
  await page.getByText('WhatsApp has approved this template').waitFor({ timeout: 15_000 })
}

/** From the page's own panel, until it is delivered; gives the content that was sent. */
async function sendTest(page: Page, label: string, recipient: string): Promise<unknown> {
  await page.getByLabel(label, { exact: true }).fill(recipient)
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText(/^(Delivered|Read)$/).waitFor({ timeout: 15_000 })
  const link = await page.getByRole('link', { name: 'See what became of it' }).getAttribute('href')
  expect(link).toMatch(/^\/messages\/msg_/)
  return ((await console.call('GET', link!)).body as { content: unknown }).content
}

browserTest(
  'an SMS: counted, warned about UCS-2 by character, tested from the page, delivered',
  async () => {
    const page = await console.open({ role: 'supervisor', path: '/templates', expected: /400/ })
    await page.getByRole('link', { name: 'Appointment reminder' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'New template' }).click()
    await page.getByRole('link', { name: 'Message by SMS' }).waitFor()
    await screenshot(page, 'templates-choice-wide-light')
    await page.getByRole('link', { name: 'Message by SMS' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Parcel notice')
    expect(await page.getByRole('textbox', { name: 'Code', exact: true }).inputValue()).toBe('parcel-notice')

    const body = page.getByRole('textbox', { name: 'Text', exact: true })
    await body.fill('Hello ')
    await page.getByRole('button', { name: 'Insert @FirstName' }).click()
    await body.press('End')
    await body.pressSequentially(', your parcel is ready: ação @Shelf')
    await page.getByRole('button', { name: 'Make @Shelf a variable' }).click()
    const odd = page.getByRole('list', { name: 'Characters outside the SMS alphabet' })
    expect(await odd.getByRole('listitem').allTextContents()).toEqual(['ç', 'ã'])
    await page.getByText('UCS-2: 70 characters in one SMS').waitFor()
    await expectAccessible(page)
    await screenshot(page, 'template-ucs2-wide-light')
    await page.getByRole('button', { name: 'Write it without them' }).click()
    await page.getByText('GSM-7: 160 characters in one SMS').waitFor()
    await odd.waitFor({ state: 'detached' })

    await page.getByRole('textbox', { name: '@Shelf', exact: true }).fill('B7')
    await page.getByRole('region', { name: 'As the recipient sees it' }).getByText('ready: acao B7').waitFor()
    await create(page)

    await page.getByLabel('Number with country code').fill('nonsense')
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('Must be 8 to 15 digits with country code').waitFor()
    await page.getByRole('switch', { name: /flash/ }).click()
    expect(await sendTest(page, 'Number with country code', '+55 31 98765-1001')).toMatchObject({
      text: 'Hello Ana, your parcel is ready: acao B7',
      isFlash: true,
    })
    await sendUntilDelivered('sms', 'Parcel notice', parameters({ Shelf: 'C1' }), 31987651002)
  },
  90_000,
)

browserTest(
  'the server says at its field what is wrong, and somebody who was quicker is not overwritten',
  async () => {
    const page = await console.open({
      role: 'supervisor',
      path: '/templates/new?channel=sms&kind=text',
      expected: /400|412/,
    })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Appointment reminder')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Nothing to fill')
    await page.getByRole('textbox', { name: 'New variable', exact: true }).fill('not a name')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: 'Create template' }).click()
    await page.getByText('"not a name" is not a variable\'s name').waitFor()
    await page.getByRole('button', { name: 'Remove the variable not a name' }).click()
    await page.getByText("is not a variable's name").waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create template' }).click()
    await page.getByText('"Appointment reminder" is already taken').waitFor()
    await screenshot(page, 'template-refused-wide-light')
    await expectAccessible(page)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Contested')
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill('contested')
    await create(page)

    const path = `/templates/${page.url().split('/').at(-1)!}`
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Mine')
    const theirs = { name: 'Contested', code: 'contested', content: { body: 'Theirs' } }
    expect((await console.call('PUT', path, theirs)).status).toBe(200)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Somebody else has saved this template').waitFor()
    await screenshot(page, 'template-conflict-wide-light')
    expect(await page.getByRole('textbox', { name: 'Text', exact: true }).inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The template was saved.').waitFor()
    expect((await console.call('GET', path)).body).toMatchObject({ content: { body: 'Mine' } })
  },
)

browserTest(
  'an e-mail with a picture of the library; hostile markup stays markup',
  async () => {
    const page = await console.open({
      role: 'supervisor',
      path: '/templates/new?channel=email&kind=text',
      // The browser says so when the frame refuses to run something.
      expected: /about:srcdoc|inline event handler|inline script/,
    })
    const hostile = Object.values(xssTexts).join('\n')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(xssTexts['imageError']!)
    await page.getByRole('textbox', { name: 'Code', exact: true }).fill('hostile-mail')
    await page
      .getByRole('textbox', { name: 'Subject', exact: true })
      .fill(`@Topic ${xssTexts['scriptElement']!}`)
    await page
      .getByRole('textbox', { name: 'Text or HTML', exact: true })
      .fill(`<h1>News about @Topic</h1>${hostile.replaceAll('\u0001', '')}`)
    await page.getByRole('button', { name: 'Make @Topic a variable' }).click()
    await page.getByRole('textbox', { name: '@Topic', exact: true }).fill('<b>prices</b>')
    const frame = page.locator('iframe[title="Preview of the e-mail"]')
    expect(await frame.getAttribute('sandbox')).toBe('')
    await page
      .frameLocator('iframe[title="Preview of the e-mail"]')
      .getByText('News about <b>prices</b>')
      .waitFor()
    expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()
    await create(page)
    expect(await page.evaluate(`window.${xssGlobal}`)).toBeUndefined()
    await page.getByRole('heading', { name: xssTexts['imageError']!, level: 1 }).waitFor()

    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Newsletter')
    const body = page.getByRole('textbox', { name: 'Text or HTML', exact: true })
    await body.fill('<style>h1 { color: rgb(200, 0, 0) }</style><h1>News about @Topic</h1>')
    await body.press('Control+End')
    await page.getByRole('button', { name: 'Insert a picture' }).click()
    await page.getByRole('button', { name: /\.png/ }).first().click()
    const mail = page.frameLocator('iframe[title="Preview of the e-mail"]')
    await expect
      .poll(() => mail.locator('img').evaluate((image) => (image as { naturalWidth?: number }).naturalWidth))
      .toBeGreaterThan(0)
    expect(await mail.locator('h1').evaluate(colorOf)).toBe('rgb(200, 0, 0)')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('The template was saved.').waitFor()
    await screenshot(page, 'template-email-wide-light')
    await page.getByRole('button', { name: 'Attach a file' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /tulips\.png/ })
      .click()
    expect(await sendTest(page, 'E-mail address', 'attached@example.com')).toMatchObject({
      isHtml: true,
      files: [{ name: 'tulips.png', mimeType: 'image/png' }],
    })
    await sendUntilDelivered('email', 'Newsletter', parameters({ Topic: 'prices' }), 31987651003)
    await page.goto('/templates')
    await page.getByRole('link', { name: 'Newsletter' }).waitFor()
  },
  90_000,
)

browserTest(
  'WhatsApp: text with header and buttons is submitted, approved and delivered',
  async () => {
    const page = await console.open({
      role: 'supervisor',
      path: '/templates/new?channel=whatsapp&kind=text',
      expected: /400/,
    })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Order on its way')
    expect(await page.getByRole('textbox', { name: 'Name at WhatsApp', exact: true }).inputValue()).toBe(
      'order_on_its_way',
    )
    const body = page.getByRole('textbox', { name: 'Text', exact: true })
    await body.fill('@Order')
    await page.getByRole('button', { name: 'Make @Order a variable' }).click()
    await page.getByRole('button', { name: 'Create template' }).click()
    await page.getByText('Must not begin or end with a variable').waitFor()
    await body.fill('Your order @Order has left, @FirstName will be glad.')
    await page.getByText('Must not begin or end with a variable').waitFor({ state: 'detached' })
    await page.getByRole('radiogroup', { name: 'Header' }).getByText('Text', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Text of the header', exact: true }).fill('Good news')
    await page.getByRole('textbox', { name: 'Footer', exact: true }).fill('Your shop')
    await page.getByRole('button', { name: 'Add a button' }).click()
    await page.getByRole('textbox', { name: 'Says', exact: true }).fill('Thank you')
    await page.getByRole('textbox', { name: '@Order', exact: true }).fill('A-17')
    const preview = page.getByRole('region', { name: 'As the recipient sees it' })
    for (const words of ['Good news', 'Your order A-17 has left, Ana', 'Your shop', 'Thank you'])
      await preview.getByText(words).waitFor()
    await expectAccessible(page)
    await create(page)
    await page.getByText('WhatsApp has not approved this template yet').waitFor()
    await approve(page)
    await sendUntilDelivered('whatsapp', 'Order on its way', parameters({ Order: 'A-18' }), 31987651004)

    await console.db.query(
      `update template set approval = 'rejected', approval_reason = 'PROMOTIONAL' where code = 'order-on-its-way'`,
    )
    await page.getByText('WhatsApp has rejected this template').waitFor({ timeout: 15_000 })
    await page.getByText('The text advertises, which its category does not allow.').waitFor()
  },
  90_000,
)

browserTest(
  'WhatsApp: a carousel, a picture header and a verification code are built, approved and delivered',
  async () => {
    const page = await console.open({
      role: 'supervisor',
      path: '/templates/new?channel=whatsapp&kind=carousel',
    })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Two offers')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Two things for you')
    for (const [at, fruit] of ['Apples', 'Pears'].entries()) {
      const card = page.getByRole('group', { name: `Card ${at + 1}`, exact: true })
      await card.getByRole('textbox', { name: 'Text of the card' }).fill(fruit)
      await card.getByRole('button', { name: 'Add a button' }).click()
      await card.getByRole('textbox', { name: 'Says' }).fill('Yes please')
      await page.getByRole('button', { name: `Picture of card ${at + 1}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: /\.png/ }).nth(at).click()
    }
    await page.getByRole('group', { name: 'Cards' }).getByText('Pears').waitFor()
    await create(page)
    await approve(page)
    expect(await sendTest(page, 'Number with country code', '+5531987651007')).toMatchObject({
      templateKind: 'carousel',
      cards: [{ file: { name: 'crocuses.png' } }, { file: { name: 'daffodils.png' } }],
    })
    const pictures = console.quickstart.media.slice(0, 2).map(({ url }) => url)
    await sendUntilDelivered(
      'whatsapp',
      'Two offers',
      pictures.map((url, at) => ({ parameterName: String(at), parameterValue: url })),
      31987651005,
    )
    await screenshot(page, 'template-carousel-wide-light')

    await page.goto('/templates/new?channel=whatsapp&kind=text')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Picture above')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Look at this')
    await page.getByRole('radiogroup', { name: 'Header' }).getByText('Picture', { exact: true }).click()
    await page.getByRole('button', { name: 'Choose a sample file' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /tulips\.png/ })
      .click()
    await create(page)
    await approve(page)
    expect(await sendTest(page, 'Number with country code', '+5531987651008')).toMatchObject({
      header: { kind: 'media', mediaKind: 'image', file: { name: 'tulips.png' } },
    })

    await page.goto('/templates/new?channel=whatsapp&kind=verification')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Sign-in code')
    await page.getByLabel('Good for, in minutes').fill('10')
    await page.getByText('This code expires in 10 minutes.').waitFor()
    expect(await page.getByLabel('Category').inputValue()).toBe('Authentication')
    await create(page)
    await approve(page)
    await sendUntilDelivered('whatsapp', 'Sign-in code', parameters({ Code: '482913' }), 31987651006)
  },
  90_000,
)

browserTest('a template is duplicated, switched off and removed; a viewer only looks', async () => {
  const page = await console.open({ role: 'supervisor', path: '/templates' })
  await page.getByRole('button', { name: 'Duplicate Personal greeting' }).click()
  expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(
    'Personal greeting (copy)',
  )
  await create(page)
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('This template is switched off.').waitFor()
  const path = new URL(page.url()).pathname

  const viewer = await console.open({ role: 'viewer', path })
  await viewer.getByText('Your role may look at templates, but not change them.').waitFor()
  for (const name of ['Save changes', 'Switch on', 'Duplicate', 'Remove', 'Send test'])
    expect(await viewer.getByRole('button', { name, exact: true }).count(), name).toBe(0)
  expect(
    await viewer.getByRole('textbox', { name: 'Text', exact: true }).getAttribute('readonly'),
  ).not.toBeNull()
  await viewer.goto('/templates/new?channel=sms&kind=text')
  await viewer.getByText('Your role does not include this page').waitFor()
  await viewer.goto('/templates')
  await viewer.getByRole('link', { name: 'Personal greeting (copy)' }).waitFor()
  expect(await viewer.getByRole('button', { name: 'New template' }).count()).toBe(0)

  // By keyboard: the pointer's way is blocked while notifications are shown.
  await page.getByRole('button', { name: 'Remove', exact: true }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Yes, remove' }).click()
  await page.waitForURL('**/templates')
  await page.getByRole('link', { name: 'Personal greeting', exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'Personal greeting (copy)' }).count()).toBe(0)
})

browserTest.each(['light', 'dark'] as const)(
  'list and editor look right, %s',
  async (scheme) => {
    const { body } = await console.call('GET', '/templates?limit=200')
    const { items } = body as { items: { id: string; code: string }[] }
    const idOf = (code: string) => items.find((template) => template.code === code)!.id
    for (const [name, width] of Object.entries(widths)) {
      const page = await console.open({ role: 'administrator', path: '/templates', width, scheme })
      await page.getByRole('link', { name: 'Invoice' }).waitFor()
      await expectNoSidewaysScroll(page)
      await expectAccessible(page)
      await screenshot(page, `templates-${name}-${scheme}`)
      for (const code of ['invoice', 'spring-offers', 'order-confirmation', 'personal-greeting']) {
        await page.goto(`/templates/${idOf(code)}`)
        await page.getByRole('button', { name: 'Send test' }).waitFor()
        await expectNoSidewaysScroll(page)
        // Once in each colour: what axe finds hardly depends on the width.
        if (scheme === 'dark' ? width === widths.wide : width === widths.narrow) await expectAccessible(page)
        await screenshot(page, `template-${code}-${name}-${scheme}`)
      }
    }
  },
  90_000,
)
