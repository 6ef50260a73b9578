/** Runs the embedded database in a process of its own that a test may kill: `node embedded-process.ts DATA_DIR`. */
import { EmbeddedError, startEmbedded } from '../../src/store/embedded/index.ts'

const [dataDir = ''] = process.argv.slice(2)
const tell = (facts: object) => process.stdout.write(`${JSON.stringify(facts)}\n`)
const log = {
  info: (facts: object, text: string) => tell({ kind: 'log', text, facts }),
  warn: (facts: object, text: string) => tell({ kind: 'log', text, facts }),
}
try {
  const server = await startEmbedded({ dataDir, log })
  tell({ kind: 'started', url: server.url, pid: server.pid })
  // A word, or the end of whoever started us.
  const stop = () => void server.stop().then(() => process.exit(0))
  process.stdin.once('data', stop).once('end', stop)
} catch (error) {
  if (!(error instanceof EmbeddedError)) throw error
  tell({ kind: 'refused', code: error.code, message: error.message })
  process.exit(1)
}
