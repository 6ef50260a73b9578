import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Programs and faults bring whole process trees along and come last, so that quick tests fail first. */
const programs = ['test/e2e/**/*.test.ts', 'test/faults/**/*.test.ts']
const browsers = ['test/e2e/console/**/*.test.ts']

export default defineConfig({
  test: {
    // One database server for the whole run; every project sees what this provides.
    globalSetup: ['test/harness/global-setup.ts'],
    maxWorkers: Math.max(2, Math.min(8, availableParallelism())),
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'bench/**/*.test.ts', 'scripts/**/*.test.ts', 'console/**/*.test.ts'],
          exclude: ['src/**/*.db.test.ts'],
          pool: 'threads',
          testTimeout: 10_000,
        },
      },
      {
        test: {
          name: 'database',
          include: ['src/**/*.db.test.ts', 'test/**/*.test.ts'],
          exclude: programs,
          pool: 'forks',
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'program',
          include: programs,
          exclude: browsers,
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'browser',
          include: browsers,
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // A program and a browser per file: two at a time are plenty.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
