/** A child of the supervisor that does nothing but what its tests ask for over HTTP. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { Counter, Registry } from 'prom-client'
import {
  askForMetrics,
  childCannotStart,
  childReady,
  joinSupervisor,
  onDrain,
  shareMetrics,
  stateOfTree,
} from '../../../src/supervisor/child.ts'

const kind = process.env['POMBO_PROCESS']
const registry = new Registry()
new Counter({ name: 'fixture_processes', help: 'one each', registers: [registry] }).inc()
joinSupervisor({ drainMs: 10_000 })
shareMetrics(registry)

if (kind === 'worker') {
  // The test lays this file to see what a program does that never gets up again.
  if (existsSync(process.env['FIXTURE_BROKEN_FILE'] ?? '')) process.exit(3)
  onDrain(async () => undefined)
  childReady({ pid: process.pid })
} else {
  const server = createServer((request, response) => {
    if (request.url === '/metrics') void askForMetrics().then((text) => response.end(text))
    else if (request.url === '/state') response.end(JSON.stringify(stateOfTree()))
    else if (request.url === '/hang') {
      response.writeHead(200)
      response.write('begun\n')
    } else if (request.url === '/slow') {
      response.writeHead(200)
      response.write('begun\n')
      setTimeout(() => response.end('finished\n'), 700)
    } else response.end(JSON.stringify({ pid: process.pid, url: process.env['DATABASE_URL'] }))
  })
  onDrain(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  )
  if (process.env['FIXTURE_CANNOT']) childCannotStart('The fixture has been told not to start.')
  else server.listen(Number(process.env['POMBO_PORT']), '127.0.0.1', () => childReady({ pid: process.pid }))
}
