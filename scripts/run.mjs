import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { compileCache, root, SetupError } from './setup.mjs'

const forwarded = ['SIGTERM', 'SIGHUP', 'SIGINT']

/**
 * Starts a program under Pombo's Node with our own terminal. Signals reach it; `isLinked` gives it a channel by
 * whose closing it learns that we were killed. `ended` tells how it went, and whether we were asked to stop.
 */
export function spawnNode(node, args, { env = {}, cwd = root, isLinked = false } = {}) {
  const child = spawn(node, args, {
    cwd,
    stdio: ['inherit', 'inherit', 'inherit', ...(isLinked ? ['ipc'] : [])],
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...env },
  })
  let wasAsked = false
  const forward = (signal) => {
    wasAsked = true
    // A terminal's Ctrl-C reaches the whole process group by itself; told twice, a program would think it urgent.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of forwarded) process.on(signal, forward)
  const parentWatch = watchParent(() => forward('SIGTERM'))
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of forwarded) process.off(name, forward)
      clearInterval(parentWatch)
      resolve({ code, signal, wasAsked })
    })
  })
  return { child, ended }
}

/** npm that is killed tells nobody; who is started by hand may well outlive his shell. */
function watchParent(onDeath) {
  if (!process.env.npm_lifecycle_event) return undefined
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onDeath()
  }, 500)
  return timer.unref()
}

/** Runs a program to its end and returns its exit code. */
export async function runNode(node, args, options) {
  return exitCodeOf(await spawnNode(node, args, options).ended)
}

export function exitCodeOf({ code, signal }) {
  return code ?? 128 + (constants.signals[signal] ?? 0)
}

/** The frame of every script: its result is the exit code, a SetupError is one sentence. */
export async function main(work) {
  try {
    process.exitCode = await work(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
