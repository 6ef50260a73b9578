import { test } from 'vitest'

/** Path of the browser that `npm test` found; empty when there is none to be had. */
export const browserPath = process.env['POMBO_TEST_BROWSER'] || undefined

/** Browser tests are skipped where there is no browser, but must not go unseen in continuous integration. */
export const browserTest = browserPath || process.env['CI'] ? test : test.skip
