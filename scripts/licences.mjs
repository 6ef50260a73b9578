/**
 * What we depend on: every package of the lockfile has a licence that we may use, and no package runs a script when it
 * is installed unless package.json names it. `--list` prints all of them. Plain JavaScript, no dependencies.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './setup.mjs'

/** Permissive ones. No GPL, AGPL or LGPL, no BSL or SSPL, nothing without a licence. */
export const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/**
 * Judged one by one: `use` says why it is fine all the same. Only for what runs here while we build or test; none of
 * it is part of what Pombo hands on.
 */
export const exceptions = {
  'axe-core': { licence: 'MPL-2.0', use: 'a test of the console; used unchanged, never handed on' },
  lightningcss: { licence: 'MPL-2.0', use: 'compresses styles when the console is built; used unchanged' },
}

/** `MIT`, `(MIT OR GPL-2.0)`, `MIT AND ISC`: one of an OR is enough, an AND needs all. No licence is none. */
export function isAllowed(licence) {
  if (typeof licence !== 'string' || licence.trim() === '') return false
  const text = licence.trim().replace(/^\((.*)\)$/, '$1')
  if (/ OR /.test(text)) return text.split(/ OR /).some(isAllowed)
  if (/ AND /.test(text)) return text.split(/ AND /).every(isAllowed)
  return allowed.has(text)
}

/** `licence`, or the old forms: an object, or a list of which one may be chosen. */
export function licenceOf({ license, licenses } = {}) {
  if (typeof license === 'string') return license
  if (typeof license?.type === 'string') return license.type
  if (Array.isArray(licenses)) return licenses.map((each) => each.type ?? each).join(' OR ')
  return ''
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']

/**
 * What is wrong, in sentences, and a row per package. `lock` and `manifest` are package-lock.json and package.json;
 * `installed` gives a package's own package.json by its path, undefined where it is not installed (another platform's).
 */
export function examine({ lock, manifest, installed }) {
  const faults = []
  const rows = []
  const named = manifest.allowScripts ?? {}
  for (const [path, entry] of Object.entries(lock.packages ?? {})) {
    if (path === '' || entry.link) continue
    const name = nameOf(path)
    const own = installed(path)
    // The package itself counts; the lockfile stands in for what this platform does not install.
    const licence = own ? licenceOf(own) || licenceOf(entry) : licenceOf(entry)
    const exception = Object.hasOwn(exceptions, baseName(name)) ? exceptions[baseName(name)] : undefined
    if (exception && exception.licence === licence && entry.dev !== true)
      faults.push(`${name} (${licence}) may only be a development dependency: ${exception.use}`)
    else if (!isAllowed(licence) && exception?.licence !== licence)
      faults.push(`${name}@${entry.version} has the licence "${licence || 'none'}", which is not on the list`)
    const scripts = own
      ? installScripts.filter((script) => script !== 'prepare' && own.scripts?.[script])
      : []
    const hasScript = entry.hasInstallScript === true || scripts.length > 0
    if (hasScript && !Object.hasOwn(named, name))
      faults.push(`${name}@${entry.version} runs a script when it is installed and is not in allowScripts`)
    if (!entry.integrity && !entry.inBundle)
      faults.push(`${name}@${entry.version} has no integrity hash in the lockfile`)
    if (/^(git|http:|file:)/.test(entry.resolved ?? ''))
      faults.push(`${name}@${entry.version} comes from ${entry.resolved}, not from the registry`)
    rows.push({
      name,
      version: entry.version ?? '',
      licence: licence || 'none',
      use: entry.dev ? 'development' : 'runtime',
      script: hasScript ? (named[name] === true ? 'runs' : 'not run') : '',
    })
  }
  for (const name of Object.keys(named))
    if (!rows.some((row) => row.name === name))
      faults.push(`allowScripts names ${name}, which is no dependency`)
  return { faults, rows: rows.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)) }
}

/** The packages of one program for several platforms have its licence. */
const baseName = (name) => name.replace(/^(lightningcss)-.*$/, '$1')

export function examineCheckout() {
  const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  return examine({
    lock: read('package-lock.json'),
    manifest: read('package.json'),
    installed: (path) => {
      const file = join(path, 'package.json')
      return existsSync(join(root, file)) ? read(file) : undefined
    },
  })
}

function main(args) {
  const { faults, rows } = examineCheckout()
  if (args.includes('--list')) {
    const columns = ['name', 'version', 'licence', 'use', 'script']
    const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column].length)))
    const line = (cells) =>
      `${cells
        .map((cell, index) => cell.padEnd(widths[index]))
        .join('  ')
        .trimEnd()}\n`
    process.stdout.write(line(columns))
    for (const row of rows) process.stdout.write(line(columns.map((column) => row[column])))
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length === 0) process.stdout.write(`${rows.length} packages, every licence is on the list\n`)
  return faults.length === 0 ? 0 : 1
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.exitCode = main(process.argv.slice(2))
