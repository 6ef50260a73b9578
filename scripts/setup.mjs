/**
 * Makes a checkout ready to run: dependencies from the lockfile, Node 24, the built console. Plain JavaScript
 * without dependencies, because it runs before there are any, on the Node that the newcomer has (20 or newer).
 * Says nothing when there is nothing to do.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const installedMark = join(root, 'node_modules', '.pombo-lock-hash')
const consoleMark = join(root, 'console', 'dist', '.source-hash')

/** Compiled modules are kept here between starts (300 modules: 730 to 250 ms). */
export const compileCache = join(root, 'node_modules', '.cache', 'compile')

/** A reason to stop that is told in one sentence, without a stack. */
export class SetupError extends Error {}

/** Returns the path of the Node that runs Pombo. */
export async function setUp({ needsConsole = false } = {}) {
  if (majorOf(process.versions.node) < 20)
    throw new SetupError(`Pombo needs Node 20 or newer to set itself up; this is ${process.version}.`)
  if (!isInstalled()) await withSetupLock(installDependencies)
  const node = findNode()
  if (needsConsole && !isConsoleFresh()) await withSetupLock(() => buildConsole(node))
  return node
}

/** The Node of the platform package; where npm has none, the running one if it is new enough. */
export function findNode() {
  const name = process.platform === 'win32' ? 'node.exe' : join('bin', 'node')
  const brought = join(
    root,
    'node_modules',
    `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`,
    name,
  )
  try {
    accessSync(brought, constants.X_OK)
    return brought
  } catch {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    if (major > 24 || (major === 24 && minor >= 15)) return process.execPath
  }
  throw new SetupError(
    `Pombo runs on Node 24.15 or newer, and npm brought none for ${process.platform} on ${process.arch}; this is ${process.version}: install Node 24 from https://nodejs.org, or run npm ci without --omit=optional.`,
  )
}

function isInstalled() {
  const wanted = lockHash()
  if (existsSync(installedMark)) return readFileSync(installedMark, 'utf8') === wanted
  // Installed by hand (`npm ci`, with or without scripts): compare what npm noted with what the lockfile wants.
  if (!hasAllOfLockfile()) return false
  writeFileSync(installedMark, wanted)
  return true
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

function hasAllOfLockfile() {
  const hidden = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(hidden)) return false
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const present = JSON.parse(readFileSync(hidden, 'utf8')).packages
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true
    return present[path] ? present[path].version === version : optional === true
  })
}

async function installDependencies() {
  if (isInstalled()) return
  rmSync(installedMark, { force: true })
  // No install script is needed: the links that PostgreSQL's package makes in its own are made at the start.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env.npm_execpath
  const command =
    npm && /\.c?js$/.test(npm) ? [process.execPath, npm] : [process.platform === 'win32' ? 'npm.cmd' : 'npm']
  await withProgress('Installing dependencies', [...command, ...args])
  writeFileSync(installedMark, lockHash())
}

function isConsoleFresh() {
  if (!existsSync(join(root, 'console', 'index.html'))) return true
  return existsSync(consoleMark) && readFileSync(consoleMark, 'utf8') === consoleHash()
}

function consoleHash() {
  const hash = createHash('sha256').update(lockHash())
  const folder = join(root, 'console')
  for (const name of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    if (/^(dist|node_modules)([/\\]|$)/.test(name) || !/\.\w+$/.test(name)) continue
    hash.update(name).update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

async function buildConsole(node) {
  if (isConsoleFresh()) return
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  await withProgress('Building the console', [node, vite, 'build', 'console', '--logLevel', 'warn'])
  writeFileSync(consoleMark, consoleHash())
}

/** One line, with the seconds counting up on a terminal; what the command says is shown only if it fails. */
async function withProgress(what, [command, ...args]) {
  const startedAt = Date.now()
  const seconds = () => Math.round((Date.now() - startedAt) / 1000)
  const isTerminal = process.stderr.isTTY
  process.stderr.write(`${what} …${isTerminal ? '' : '\n'}`)
  const ticker = setInterval(() => isTerminal && process.stderr.write(`\r${what} … ${seconds()} s`), 1000)
  const { code, output } = await runQuietly(command, args)
  clearInterval(ticker)
  process.stderr.write(isTerminal ? `\r${what} … done in ${seconds()} s\n` : '')
  if (code !== 0) throw new SetupError(`${what} failed:\n${output.trim()}`)
}

function runQuietly(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: command.endsWith('.cmd'),
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (output = (output + chunk).slice(-8000)))
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

/** Two commands in a fresh clone must not install over each other. The holder's death frees the lock. */
async function withSetupLock(work) {
  const folder = join(root, '.cache')
  const file = join(folder, 'setup.lock')
  mkdirSync(folder, { recursive: true })
  while (!tryLock(file)) await new Promise((resolve) => setTimeout(resolve, 200))
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  const holder = Number(existsSync(file) && readFileSync(file, 'utf8'))
  if (holder > 0 && !isAlive(holder)) rmSync(file, { force: true })
  return false
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function majorOf(version) {
  return Number(version.split('.')[0])
}
