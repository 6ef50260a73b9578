/** From "try it" to the phone and back: reference, sandbox and callbacks on one program. */
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
import { xssGlobal, xssTexts } from '../../harness/hostile-texts.ts'

let console: TestConsole
beforeAll(async () => {
  console = await startConsole()
})
afterAll(() => console?.stop())

const operation = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** By the API, with the demo's own token. */
async function sendSms(number: string, name: string): Promise<void> {
  const answer = await fetch(`${console.url}/v1/directmessage/sms`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${console.quickstart.direct.token}`,
    },
    body: JSON.stringify({
      recipient_number: number,
      template_code: 'appointment-reminder',
      variable_values: { Date: '1 May', Time: '10:00' },
      contract_code: 'C-1',
      callback_details: { url: `${console.quickstart.sandbox.url}/catch/${name}` },
    }),
  })
  expect(answer.status).toBe(202)
}

browserTest('a message sent from "try it" is on the phone, and the answer comes back', async () => {
  const page = await console.open({ role: 'administrator', path: '/reference' })
  const login = operation(page, 'POST /v1/login')
  await login.getByRole('button', { name: 'Create an API user for this' }).click()
  await page.getByText(/was created and filled in/).waitFor()
  await login.getByRole('button', { name: 'Send request' }).click()
  await login.getByRole('status').getByText('200', { exact: true }).waitFor()

  const send = operation(page, 'POST /v1/sendmessage')
  await send.getByRole('button', { name: 'Fill in the private token' }).click()
  await page.getByText(/The private token was filled in/).waitFor()
  await send.getByText('The same with curl').click()
  await send.getByText(/curl -i 'http.*v1\/sendmessage'/).waitFor()
  await send.getByRole('button', { name: 'Send request' }).click()
  await send.getByRole('status').getByText('200', { exact: true }).waitFor()
  await send.getByRole('combobox', { name: 'Start from' }).click()
  await page.getByRole('option', { name: 'WhatsApp template' }).click()
  await send.getByRole('button', { name: 'Send request' }).click()
  await send.getByText(/"messageId": "msg_/).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'reference-tried')
  const timeline = send.getByRole('link', { name: 'Open the message with its timeline' })
  const [beside] = await Promise.all([
    page.context().waitForEvent('page'),
    timeline.click({ modifiers: ['ControlOrMeta'] }),
  ])
  await beside.waitForURL(/\/messages\/msg_/)
  await beside.close()

  await send.getByRole('link', { name: 'See it on the phone' }).click()
  await page.waitForURL(/\/sandbox/)
  await page.getByText('Live', { exact: true }).waitFor()
  await page
    .getByRole('button', { name: /SMS.*31987650010|5531987650010/ })
    .first()
    .click()
  const chat = page.getByRole('list').filter({ hasText: 'this is Pombo.' }).last()
  await chat.getByText('Hello Maria, this is Pombo.').waitFor()
  await chat.getByText('delivered').waitFor()
  await page.getByRole('textbox', { name: 'Answer as the person' }).fill('Who is there?')
  await page.getByRole('button', { name: 'Send' }).click()
  await chat.getByText('Who is there?').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'sandbox-sms')

  await page
    .getByRole('button', { name: /WhatsApp/ })
    .first()
    .click()
  await page
    .getByText(/Your order .* has left/)
    .last()
    .waitFor()
  await page.getByRole('button', { name: 'Read all' }).click()
  await page.getByText('read', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'Thank you' }).click()
  await page
    .getByRole('listitem')
    .filter({ hasText: /^Your order.*Thank you/s })
    .last()
    .waitFor()
  await screenshot(page, 'sandbox-whatsapp')
  const received = async () => {
    const { body } = await console.call('GET', '/received')
    return (body as { items: { text: string | null }[] }).items.map(({ text }) => text)
  }
  await expect.poll(received).toEqual(expect.arrayContaining(['Who is there?', 'Thank you']))
})

browserTest(
  'a direct token is made where it is tried, and its callbacks are caught with a valid signature',
  async () => {
    const page = await console.open({ role: 'administrator', path: '/reference?api=direct' })
    const sms = operation(page, 'POST /v1/directmessage/sms')
    await sms.getByRole('button', { name: 'Generate a token' }).click()
    await page.getByText(/A direct token was generated/).waitFor()
    await sms.getByLabel(/Dry run/).check()
    await sms.getByRole('button', { name: 'Send request' }).click()
    await sms
      .getByRole('status')
      .getByText(/^20[02]$/)
      .waitFor()
    expect(await sms.getByRole('link', { name: /timeline/ }).count()).toBe(0)
    await sms.getByLabel(/Dry run/).uncheck()
    await sms.getByRole('button', { name: 'Send request' }).click()
    await sms.getByRole('link', { name: /timeline/ }).waitFor()
    await page.goto('/sandbox?view=callbacks')
    const caught = page.getByRole('group').filter({ hasText: 'message.delivered' })
    await caught.getByText('Signature valid').waitFor()
    await caught.locator('summary').click()
    await caught.getByText(/webhook-signature: v1/).waitFor()
    await expectAccessible(page)
    await screenshot(page, 'sandbox-callbacks')
  },
)

browserTest('a callback that is refused waits, and is sent again by hand', async () => {
  await console.call('PUT', '/sandbox/callbacks', { name: 'broken', status: 503 })
  await sendSms('5531987654001', 'broken')
  const page = await console.open({ role: 'supervisor', path: '/callbacks?state=waiting' })
  await page.getByText('HTTP 503').first().waitFor()
  await page
    .getByText(/^Try \d+ in|Is sent any moment/)
    .first()
    .waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Sent', exact: true }).first().click()
  await page.getByRole('heading', { name: /^Callback \d+: Sent/ }).waitFor()
  await page.getByText('HTTP 503').first().waitFor()
  await page.getByText(/"type": "message.sent"/).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'callback')
  await console.call('PUT', '/sandbox/callbacks', { name: 'broken', status: 200 })
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByText('One callback is on its way again.').waitFor()
  await page.getByText(/Taken at try \d/).waitFor()

  // 410 ends it at once.
  await console.call('PUT', '/sandbox/callbacks', { name: 'gone', status: 410 })
  await sendSms('5531987654002', 'gone')
  await page.goto('/callbacks?state=given_up')
  await page.getByText('Given up after one try').first().waitFor()
  await console.call('PUT', '/sandbox/callbacks', { name: 'gone', status: 200 })
  await page.getByRole('button', { name: 'Send given-up ones again' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByText(/on (its|their) way again/).waitFor()
  await page.getByRole('heading', { name: 'Nothing found' }).waitFor()
  await page.goto('/callbacks?messageId=nonsense')
  await page.getByText('A message id looks like').waitFor()
})

browserTest('mail is read in a frame without power; hostile words are words', async () => {
  const { unified } = console.quickstart
  const post = async (path: string, body: unknown, token?: string) => {
    const answer = await fetch(`${console.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Record<string, unknown>
  }
  const shown = await console.call('POST', '/company/private-token/show')
  const login = await post('/v1/login', {
    Company: unified.company,
    Username: unified.username,
    Password: unified.password,
  })
  const hostile = Object.values(xssTexts).slice(0, 6).join(' ')
  const sent = await post(
    '/v1/sendmessage',
    {
      platformPrivateToken: (shown.body as { privateToken: string }).privateToken,
      text: `<style>h1{color:#0a6}</style><h1>Paper</h1>${hostile}`,
      channel: 1,
      emailSubject: '<img src=x onerror=alert(1)>',
      destination: { email: 'maria@example.com' },
    },
    String(login['access_token']),
  )
  expect(sent).toHaveProperty('messageId')
  // What the frame's policy blocks is said on the browser's console, and that is what it is for.
  const page = await console.open({
    role: 'supervisor',
    path: '/sandbox?view=mail',
    expected: /Content Security Policy|sandboxed|Blocked script/i,
  })
  await page.getByRole('button', { name: /<img src=x/ }).click()
  const frame = page.frameLocator('iframe')
  await frame.getByRole('heading', { name: 'Paper' }).waitFor()
  expect(await page.evaluate(`globalThis.${xssGlobal}`)).toBeUndefined()
  await screenshot(page, 'sandbox-mail')
  await page.getByText('Headers', { exact: true }).click()
  await page.getByText('maria@example.com').last().waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Bounce' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Bounce' }).click()
  await page.getByText('Bounced').first().waitFor()
})

browserTest('a dial is turned, the trouble is seen, and everything is calmed', async () => {
  const page = await console.open({ role: 'supervisor', path: '/sandbox?view=chaos', expected: /400/ })
  const codes = page.getByRole('textbox', { name: 'SMS: Refused with code:percent' })
  await codes.fill('nonsense')
  await page.getByText(/Write codes and percents/).waitFor()
  await codes.fill('88:100')
  await codes.blur()
  await page.getByText('Troubled').waitFor()
  await page.getByRole('slider', { name: 'WhatsApp: Lost' }).press('ArrowRight')
  await expect.poll(() => page.getByText('Troubled').count()).toBe(2)
  await expectAccessible(page)
  const { body } = await console.call('GET', '/sandbox/chaos')
  expect(body).toMatchObject({
    sms: { errors: [{ code: 88, rate: 1 }] },
    whatsapp: { receipts: { lostRate: 0.01 } },
  })
  await page.getByRole('button', { name: 'Calm everything' }).click()
  await expect.poll(() => page.getByText('Troubled').count()).toBe(0)
})

browserTest('without a sandbox the page says so, and a fault can be tried again', async () => {
  const page = await console.open({ role: 'administrator', expected: /500/ })
  let answer: { status: number; json: object } = { status: 500, json: { message: 'x', requestId: 'req_1' } }
  await page.route('**/admin/v1/sandbox', (route) => route.fulfill(answer))
  await page.goto('/sandbox')
  await page.getByText('This could not be loaded').waitFor()
  answer = { status: 200, json: { isRunning: false } }
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No sandbox runs here' }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'sandbox-off')
})

browserTest('a role that may not, cannot', async () => {
  const page = await console.open({ role: 'viewer', path: '/sandbox' })
  await page.getByRole('heading', { name: 'Your role does not include this page' }).waitFor()
  await page.goto('/reference')
  await operation(page, 'POST /v1/sendmessage').waitFor()
  expect(await page.getByRole('button', { name: /private token|API user/ }).count()).toBe(0)
  await page.goto('/callbacks')
  await page.getByRole('heading', { name: 'Callbacks' }).waitFor()
  expect(await page.getByRole('button', { name: /again/ }).count()).toBe(0)
})

browserTest.each(['light', 'dark'] as const)(
  'sandbox, reference and callbacks look right, %s',
  async (scheme) => {
    const pages: [string, string, RegExp][] = [
      ['sandbox', '/sandbox', /5531987654321/],
      ['chaos', '/sandbox?view=chaos', /Trouble on purpose/],
      ['reference', '/reference?api=direct', /Send request/],
      ['callbacks', '/callbacks', /Given up|Taken at/],
    ]
    for (const [size, width] of Object.entries(widths)) {
      const page = await console.open({ role: 'administrator', width, scheme })
      for (const [name, path, sign] of pages) {
        await page.goto(path)
        await page.getByText(sign).first().waitFor()
        await expectNoSidewaysScroll(page)
        await screenshot(page, `${name}-${size}-${scheme}`)
        // Half of the four: the other two differ in nothing that the rules look at.
        if ((size === 'wide') === (scheme === 'dark')) await expectAccessible(page)
      }
    }
  },
)
