/**
 * The console in a real browser: the whole program with the demo company on a database of its own, and pages that are
 * signed in. A page that logs an error, breaks its content security policy or asks a foreign host fails its test.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import type { Quickstart } from '../../src/flows/demo/quickstart.ts'
import type { Db } from '../../src/store/db.ts'
import type { UserRole } from '../../src/store/users.ts'
import { browserPath } from './browser.ts'
import { createTestDatabase } from './database.ts'
import { makeUser, type TestUser } from './factories.ts'
import { watchForProblems } from './page-problems.ts'
import { launchProgram } from './program.ts'

export type ConsoleRole = Exclude<UserRole, 'api'>

export type OpenOptions = {
  /** Nobody is signed in when it is not given. */
  role?: ConsoleRole
  path?: string
  /** 1440 unless told otherwise; 390 is a phone. */
  width?: number
  scheme?: 'light' | 'dark'
  /** Messages of the browser's console that this test expects, such as those about refused requests. */
  expected?: RegExp
}

export type TestConsole = {
  url: string
  db: Db
  quickstart: Quickstart
  companyId: string
  /** Of the program; `sandbox/sandbox.json` there has the peers' ports and credentials. */
  dataDir: string
  /** A page in a context of its own, closed when the test ends, which fails if the page had a problem. */
  open(options?: OpenOptions): Promise<Page>
  /** As somebody of this role, without a browser: to prepare what a page will show. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  stop(): Promise<void>
}

export const widths = { wide: 1440, narrow: 390 } as const

/** One per test file, in `beforeAll`: about three seconds. */
export async function startConsole(env: Record<string, string> = {}): Promise<TestConsole> {
  const database = await createTestDatabase(4)
  const program = await launchProgram({
    env: {
      DATABASE_URL: database.url,
      POMBO_SERVING_PROCESSES: '1',
      POMBO_SANDBOX_PORT: '0',
      ...env,
    },
  })
  let browser: Promise<Browser> | undefined
  const stop = async () => {
    await (await browser)?.close()
    await program.stop()
    await database.drop()
  }
  let quickstart: Quickstart
  let companyId: string
  try {
    await program.waitUntilReady()
    quickstart = await program.quickstart()
    companyId = await findCompany(database.db, quickstart.console.company)
  } catch (error) {
    await stop()
    throw error
  }
  const people = new Map<ConsoleRole, Promise<TestUser>>()
  const personOf = (role: ConsoleRole) => {
    const found = people.get(role) ?? makeUser(database.db, companyId, role)
    people.set(role, found)
    return found
  }
  const signIn = async (role: ConsoleRole): Promise<string> => {
    const { name, password } = await personOf(role)
    const answer = await fetch(`${program.baseUrl}/admin/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-pombo-console': '1' },
      body: JSON.stringify({ company: quickstart.console.company, username: name, password }),
    })
    if (!answer.ok) throw new Error(`Sign-in answered ${answer.status}: ${await answer.text()}`)
    return (answer.headers.get('set-cookie') ?? '').split(';')[0]!
  }
  let administrator: Promise<string> | undefined
  return {
    url: program.baseUrl,
    db: database.db,
    quickstart,
    companyId,
    dataDir: program.dataDir,
    async open({ role, path = '/', width = widths.wide, scheme = 'light', expected } = {}) {
      browser ??= launch()
      const context = await (
        await browser
      ).newContext({
        viewport: { width, height: width < 600 ? 844 : 900 },
        colorScheme: scheme,
        baseURL: program.baseUrl,
        reducedMotion: 'reduce',
        locale: 'en-GB',
      })
      if (role) await giveCookie(context, program.baseUrl, await signIn(role))
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
      const problems = watchForProblems(page, program.baseUrl, expected)
      onTestFinished(async () => {
        await context.close()
        expect(problems).toEqual([])
      })
      await page.goto(path)
      return page
    },
    async call(method, path, body) {
      administrator ??= signIn('administrator')
      const answer = await fetch(`${program.baseUrl}/admin/v1${path}`, {
        method,
        headers: {
          cookie: await administrator,
          'x-pombo-console': '1',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    stop,
  }
}

async function launch(): Promise<Browser> {
  if (browserPath === undefined)
    throw new Error('There is no browser: set POMBO_TEST_BROWSER to the path of one, or run "npm test".')
  // As root, and in containers, Chromium's own sandbox cannot be set up.
  return await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] })
}

async function findCompany(db: Db, name: string): Promise<string> {
  const [company] = await db.query<{ id: string }>('select id from company where name = $1', [name])
  return company!.id
}

async function giveCookie(context: BrowserContext, url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
}

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

type AxeResult = {
  violations: {
    id: string
    impact: string
    help: string
    nodes: { html: string; failureSummary: string }[]
  }[]
}

/** Nothing serious or critical, by the rules of axe, in what the page shows once it has settled. */
export async function expectAccessible(page: Page): Promise<void> {
  // Rows that are about to be replaced are faded on purpose, and too pale to read.
  await expect.poll(() => page.locator('[aria-busy=true]').count(), { timeout: 10_000 }).toBe(0)
  // Not by a script element, which the page's policy would refuse.
  await page.evaluate(await readFile(axePath, 'utf8'))
  const { violations } = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] })`,
  )) as AxeResult
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
    }))
  expect(found).toEqual([])
}

const tallestShot = 1800

/** To look at: into POMBO_TEST_SHOTS, by default a folder in the temporary one. Gives the path. */
export async function screenshot(page: Page, name: string): Promise<string> {
  const folder = process.env['POMBO_TEST_SHOTS'] || join(tmpdir(), 'pombo-shots')
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${name}.png`)
  const { width } = page.viewportSize()!
  const height = (await page.evaluate('document.documentElement.scrollHeight')) as number
  await page.screenshot({
    path,
    fullPage: true,
    clip: { x: 0, y: 0, width, height: Math.min(height, tallestShot) },
  })
  return path
}

/** Nothing sticks out to the right: the page scrolls only down. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content, window] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number]
  expect(content).toBeLessThanOrEqual(window)
}
