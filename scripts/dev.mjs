/**
 * `npm start` that starts again when a source file changes. One serving process: quicker, and easier to debug. The
 * console is served by Vite as well, which shows its changes without a build.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { exitCodeOf, main, spawnNode } from './run.mjs'
import { root, setUp } from './setup.mjs'

const SETTLE_MS = 150

await main(async (args) => {
  const node = await setUp({ needsConsole: true })
  const env = { POMBO_SERVING_PROCESSES: process.env.POMBO_SERVING_PROCESSES ?? '1' }
  const vite = startVite(node)
  process.once('exit', () => vite.kill())
  for (;;) {
    const change = nextChange(join(root, 'src'))
    const { child, ended } = spawnNode(node, ['src/cli/main.ts', 'start', ...args], { env, isLinked: true })
    const first = await Promise.race([change.seen, ended])
    if (first === 'changed') {
      child.kill('SIGTERM')
      await ended
    } else if (first.wasAsked) {
      change.stop()
      vite.kill()
      return exitCodeOf(first)
    } else {
      process.stderr.write('Pombo ended; it starts again at the next change (Ctrl-C leaves).\n')
      await change.seen
    }
  }
})

function startVite(node) {
  const server = `http://127.0.0.1:${process.env.POMBO_CONSOLE_PORT ?? process.env.POMBO_PORT ?? 8080}`
  return spawn(node, [join('node_modules', 'vite', 'bin', 'vite.js'), 'console', '--clearScreen', 'false'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, POMBO_DEV_SERVER: server },
  })
}

/** Editors write a file in several steps: the change is told when none came for a moment. */
function nextChange(folder) {
  const watcher = watch(folder, { recursive: true })
  const seen = new Promise((resolve) => {
    let timer
    watcher.on('change', (_event, name) => {
      if (String(name).endsWith('.test.ts')) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        watcher.close()
        resolve('changed')
      }, SETTLE_MS)
    })
  })
  void once(watcher, 'error').then(() => watcher.close())
  return { seen, stop: () => watcher.close() }
}
