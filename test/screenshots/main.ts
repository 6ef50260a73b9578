/**
 * `npm run screenshots [-- dashboard reference …]`: a day at the demo company, and pictures of the console, or those
 * named, into docs/images. Exits 0 only when every page could be shown without an error.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { common } from '../../console/src/text/common.ts'
import { watchForProblems } from '../harness/page-problems.ts'
import { root } from '../harness/program.ts'
import { fill } from './fill.ts'
import { startInstallation, type Installation } from './installation.ts'
import { shotsOf, type Shot } from './pages.ts'
import { shrinkPng } from './shrink-png.ts'

const folder = join(root, 'docs/images')
const maxBytes = 150 * 1024
const wide = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }
/** Of one page, and of the whole run. */
const pageMs = 30_000
const runMs = 5 * 60_000

/** As root, and in containers, Chromium's own sandbox cannot be set up. */
const browserArgs = ['--no-sandbox', '--disable-gpu']
const startedAt = performance.now()
const say = (text: string) =>
  void process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)

const errorWords = [common.failedToLoad, common.pageBroke, common.noPermission, common.notFound]

async function take(browser: Browser, pombo: Installation, shot: Shot): Promise<string[]> {
  const context = await browser.newContext({
    viewport: shot.isPhone ? phone : wide,
    deviceScaleFactor: 1,
    colorScheme: shot.scheme ?? 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'America/Sao_Paulo',
    baseURL: pombo.url,
  })
  try {
    const cookie = await pombo.cookie()
    await context.addCookies([{ ...cookie, url: pombo.url, httpOnly: true, sameSite: 'Strict' }])
    const page = await context.newPage()
    page.setDefaultTimeout(pageMs)
    const problems = watchForProblems(page, pombo.url)
    await page.goto(shot.path)
    await shot.prepare(page)
    await quiet(page)
    const path = join(folder, `${shot.name}.png`)
    const picture = shrinkPng(await page.screenshot({ animations: 'disabled' }))
    await writeFile(path, picture)
    for (const words of errorWords)
      if ((await page.getByText(words).count()) > 0) problems.push(`the page says "${words}"`)
    if (picture.length > maxBytes)
      problems.push(`the picture has ${picture.length} bytes, more than ${maxBytes}`)
    say(`${relative(root, path)}, ${Math.ceil(picture.length / 1024)} KB`)
    return problems
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    await context.close()
  }
}

/** Notes that go away by themselves are gone, pictures are there. */
async function quiet(page: Page): Promise<void> {
  await page.mouse.move(0, 0)
  await page
    .locator('.mantine-Notification-root, .mantine-Skeleton-root[data-visible]')
    .first()
    .waitFor({ state: 'detached' })
  await page.waitForFunction('[...document.images].every((image) => image.complete)')
}

function chosen(shots: Shot[]): Shot[] {
  const names = process.argv.slice(2)
  const unknown = names.filter((wanted) => !shots.some(({ name }) => name === wanted))
  if (unknown.length > 0)
    throw new Error(
      `No picture is called ${unknown.join(' or ')}; there are ${shots.map(({ name }) => name).join(', ')}.`,
    )
  return names.length === 0 ? shots : shots.filter(({ name }) => names.includes(name))
}

async function run(stopping: AbortSignal): Promise<number> {
  const executablePath = process.env['POMBO_TEST_BROWSER']
  if (!executablePath) throw new Error('Start it with "npm run screenshots", which finds a browser.')
  await mkdir(folder, { recursive: true })
  say('starting Pombo')
  const pombo = await startInstallation()
  let browser: Browser | undefined
  try {
    const filled = await fill(pombo, (text) => {
      stopping.throwIfAborted()
      say(text)
    })
    browser = await chromium.launch({ executablePath, args: browserArgs })
    let failures = 0
    for (const shot of chosen(shotsOf(filled))) {
      stopping.throwIfAborted()
      const problems = await take(browser, pombo, shot)
      if (problems.length > 0) failures++
      for (const problem of problems) say(`${shot.name}: ${problem}`)
    }
    return failures
  } finally {
    await browser?.close()
    say('stopping Pombo')
    await pombo.stop()
  }
}

const stopping = new AbortController()
const stop = (why: string) => stopping.abort(new Error(why))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop('stopped'))
const timer = setTimeout(() => stop(`not done within ${runMs / 60_000} minutes`), runMs)
try {
  const failures = await run(stopping.signal)
  say(failures === 0 ? 'every page was shown without an error' : `${failures} pages had an error`)
  process.exitCode = failures === 0 ? 0 : 1
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  clearTimeout(timer)
}
