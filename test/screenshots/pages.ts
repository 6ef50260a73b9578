/** The pictures: where each is taken, and what must be there before it is. */
import type { Locator, Page } from 'playwright-core'
import type { Filled } from './fill.ts'

export type Shot = {
  name: string
  path: string
  scheme?: 'light' | 'dark'
  isPhone?: boolean
  /** Returns when the page shows what the picture is about. */
  prepare(page: Page): Promise<void>
}

export const shotsOf = ({ readMessageId, refusedMessageId, carouselId, mariaId }: Filled): Shot[] => [
  {
    name: 'dashboard',
    path: '/?trouble=failed',
    async prepare(page) {
      await page.getByRole('img', { name: /Chart of outcomes/ }).waitFor()
      await page.getByRole('table', { name: 'Lines' }).getByRole('link').first().waitFor()
    },
  },
  { name: 'messages', path: '/messages', prepare: hasMessages },
  {
    name: 'message-timeline',
    path: `/messages/${readMessageId}`,
    async prepare(page) {
      const timeline = page.getByRole('list', { name: 'Timeline' })
      await timeline.getByText('Read', { exact: true }).first().waitFor()
    },
  },
  {
    name: 'message-refused',
    path: `/messages/${refusedMessageId}`,
    prepare: (page) =>
      page.getByRole('region', { name: 'Why it was refused' }).getByRole('link').first().waitFor(),
  },
  { name: 'template-carousel', path: `/templates/${carouselId}`, prepare: choosePictures },
  {
    name: 'channels',
    path: '/channels',
    prepare: (page) => page.getByRole('link', { name: 'WhatsApp prospects 1' }).first().waitFor(),
  },
  {
    name: 'attendance',
    path: `/attendance?list=all&contact=${mariaId}`,
    scheme: 'dark',
    async prepare(page) {
      await page.getByText('Perfect, thank you!').last().waitFor()
      await page.getByText('Igor Alves').waitFor()
    },
  },
  {
    name: 'sandbox-phone',
    path: '/sandbox',
    async prepare(page) {
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByRole('button', { name: /5531987654321.*Perfect/s }).click()
      const offers = page
        .getByRole('listitem')
        .filter({ hasText: /Three things.*Tulips/s })
        .first()
      await offers.getByRole('button').first().click()
      await page.getByText('spring_offers').waitFor()
      await scrollTo(offers, 'start')
    },
  },
  { name: 'reference', path: '/reference', prepare: tryIt },
  { name: 'messages-phone', path: '/messages', isPhone: true, prepare: hasMessages },
]

const hasMessages = (page: Page) =>
  page
    .getByRole('link', { name: /^Open the message/ })
    .nth(3)
    .waitFor()

/** For the preview only; nothing is saved. */
async function choosePictures(page: Page): Promise<void> {
  for (const [at, name] of ['tulips.png', 'daffodils.png', 'crocuses.png'].entries()) {
    await page.getByRole('button', { name: `Picture of card ${at + 1}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await page.evaluate('scrollTo(0, 0)')
}

/** Logs in and sends for real, then shows the send and its answer. */
async function tryIt(page: Page): Promise<void> {
  const login = page.getByRole('region', { name: 'POST /v1/login', exact: true })
  await login.getByRole('button', { name: 'Create an API user for this' }).click()
  await page.getByText(/was created and filled in/).waitFor()
  await login.getByRole('button', { name: 'Send request' }).click()
  await login.getByRole('status').getByText('200', { exact: true }).waitFor()
  const send = page.getByRole('region', { name: 'POST /v1/sendmessage', exact: true })
  await send.getByRole('button', { name: 'Fill in the private token' }).click()
  await page.getByText(/The private token was filled in/).waitFor()
  await send.getByRole('button', { name: 'Send request' }).click()
  await send.getByRole('link', { name: 'Open the message with its timeline' }).waitFor()
  // Not even a token that is gone in a minute belongs in a picture.
  const body = send.getByRole('textbox', { name: 'Body (JSON)' })
  await body.fill((await body.inputValue()).replace(/("platformPrivateToken": ")[^"]*/, '$1…'))
  await scrollTo(send.getByRole('status').getByText(/"messageId"/), 'end')
}

/** The tests' types know no DOM. */
const scrollTo = (place: Locator, block: 'start' | 'end') =>
  place.evaluate(
    (element, block) =>
      (element as unknown as { scrollIntoView(options: object): void }).scrollIntoView({ block }),
    block,
  )
