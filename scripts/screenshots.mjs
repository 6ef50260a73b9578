import { findBrowser } from './browser.mjs'
import { main, runNode } from './run.mjs'
import { setUp, SetupError } from './setup.mjs'

await main(async (args) => {
  const node = await setUp({ needsConsole: true })
  const browser = await findBrowser()
  if (browser === undefined)
    throw new SetupError('There is no browser: set POMBO_TEST_BROWSER to the path of a Chromium.')
  return runNode(node, ['test/screenshots/main.ts', ...args], { env: { POMBO_TEST_BROWSER: browser } })
})
