import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBrowser } from './browser.mjs'
import { main, runNode } from './run.mjs'
import { root, setUp } from './setup.mjs'

await main(async (args) => {
  const node = await setUp({ needsConsole: true })
  const browser = existsSync(join(root, 'console')) ? await findBrowser() : undefined
  const folder = mkdtempSync(join(tmpdir(), 'pombo-counts-'))
  const countsFile = join(folder, 'counts.json')
  try {
    const env = { POMBO_TEST_COUNTS: countsFile, POMBO_TEST_BROWSER: browser ?? '' }
    const reporters = ['--reporter=default', '--reporter=./scripts/count-reporter.mjs']
    const code = await runNode(node, ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], {
      env,
    })
    return sayCounts(countsFile, code)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

/** The last line of the output; a run that broke off counts as one failure. */
function sayCounts(file, code) {
  const counts = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { passed: 0, failed: 0, skipped: 0 }
  const failed = code === 0 ? counts.failed : Math.max(1, counts.failed)
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  process.stdout.write(`${counts.passed} passed, ${failed} failed${skipped}\n`)
  return failed === 0 ? 0 : code || 1
}
