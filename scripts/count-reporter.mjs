/** Writes how many tests passed, failed and were skipped into the file named by POMBO_TEST_COUNTS, for test.mjs. */
import { writeFileSync } from 'node:fs'

export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        counts[state === 'pending' ? 'failed' : state] += 1
      }
      // A file that does not load, or a failed hook of a suite, fails without any test having run.
      const errors = [...module.children.allSuites()].reduce(
        (sum, suite) => sum + suite.errors().length,
        module.errors().length,
      )
      counts.failed += errors
    }
    writeFileSync(process.env.POMBO_TEST_COUNTS, JSON.stringify(counts))
  }
}
