/** Runs the supervisor over the fixture child and tells on standard output, one JSON object a line. */
import { fileURLToPath } from 'node:url'
import { runSupervisor } from '../../../src/supervisor/index.ts'

const tell = (facts: object) => process.stdout.write(`${JSON.stringify(facts)}\n`)
const log =
  (level: string) =>
  (facts: object, text: string): void =>
    void tell({ kind: 'log', level, text, ...facts })

try {
  const given: object = JSON.parse(process.argv[2] ?? '{}')
  const exitCode = await runSupervisor({
    config: {
      host: '127.0.0.1',
      port: 0,
      directPort: undefined,
      consolePort: undefined,
      dataDir: '/nowhere',
      databaseUrl: undefined,
      roles: ['unified', 'worker'],
      servingProcesses: 2,
      isFolded: false,
      heapMib: 512,
      drainMs: 5_000,
      ...given,
    },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    childEnv: (extra) => ({ ...process.env, ...extra }),
    prepare: async ({ databaseUrl }) => void tell({ kind: 'prepared', databaseUrl }),
    onReady: ({ port, children }) => tell({ kind: 'ready', port, children }),
    entry: fileURLToPath(new URL('child.ts', import.meta.url)),
  })
  tell({ kind: 'ended', exitCode })
} catch (error) {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
}
