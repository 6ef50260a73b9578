/** The table "Who may import whom" of ARCHITECTURE.md against every import below src/. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Room to the rooms it may import, in the order of the table: lowest first. */
function readTable(): Map<string, string[]> {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const section = text.split('## Who may import whom')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| `([a-z/]+)`\s*\|(.*)\|$/gm)]
  return new Map(
    rows.map(([, room, cell]) => [room!, [...cell!.matchAll(/`([a-z/]+)`/g)].map(([, name]) => name!)]),
  )
}

const table = readTable()

/** `src/store/db.ts` is in `store`, `src/http/admin/x.ts` in `http/admin` when the table has such a row. */
function roomOf(path: string): string {
  const [first = '', second = ''] = path.split('/').slice(1)
  const nested = `${first}/${second}`
  return table.has(nested) ? nested : first.replace(/\.ts$/, '')
}

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((name) => `src/${name.split(sep).join('/')}`)
  .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|-test\.ts$|\/test-[^/]*$|\.d\.ts$/.test(name))

const importPattern = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

function importsOf(file: string): { target: string }[] {
  const source = readFileSync(join(root, file), 'utf8')
  return [...source.matchAll(importPattern)].map(([, text]) => ({
    target: posix.normalize(posix.join(dirname(file), text!)),
  }))
}

test('the table has a row for every room, and no other', () => {
  const rooms = new Set(files.map(roomOf))
  expect([...rooms].filter((room) => !table.has(room))).toEqual([])
  const known = new Set([...rooms, 'http/admin'])
  expect([...table.keys()].filter((room) => !known.has(room))).toEqual([])
})

test('arrows only point down: a room may import only rooms that stand above it in the table', () => {
  const order = [...table.keys()]
  const upward = [...table].flatMap(([room, allowed]) =>
    allowed
      .filter((name) => !order.includes(name) || order.indexOf(name) >= order.indexOf(room))
      .map((name) => `${room} -> ${name}`),
  )
  expect(upward).toEqual([])
})

test('every import is one that the table allows', () => {
  const isAllowed = (from: string, to: string) =>
    from === to || from.startsWith(`${to}/`) || table.get(from)?.includes(to) === true
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter(({ target }) => target.startsWith('src/') && !isAllowed(roomOf(file), roomOf(target)))
      .map(({ target }) => `${file} -> ${target}`),
  )
  expect(wrong).toEqual([])
})

test('nothing below src/ leans on tests, scripts or the benchmark', () => {
  const outside = files.flatMap((file) =>
    importsOf(file)
      .filter(({ target }) => !target.startsWith('src/') && target !== 'package.json')
      .map(({ target }) => `${file} -> ${target}`),
  )
  expect(outside).toEqual([])
})

test('the console takes types from anywhere in src/, functions only from where no Node is needed', () => {
  const sources = readdirSync(join(root, 'console/src'), { recursive: true, encoding: 'utf8' })
    .map((name) => `console/src/${name.split(sep).join('/')}`)
    .filter((name) => /(?<!\.test)\.tsx?$/.test(name))
  const taken = new Set<string>()
  const take = (file: string) => {
    const source = readFileSync(join(root, file), 'utf8')
    for (const [, kind, text] of source.matchAll(/^(?:import|export) (type )?[^'"]*?from '([^']+)'/gms)) {
      const target = text!.startsWith('.') ? posix.normalize(posix.join(dirname(file), text!)) : text!
      if (kind || taken.has(target)) continue
      if (file.startsWith('src/') || target.startsWith('src/')) taken.add(target)
      if (target.startsWith('src/')) take(target)
    }
  }
  sources.forEach(take)
  expect([...taken]).toContain('src/domain/variables.ts')
  expect([...taken].filter((target) => !/^src\/(?:domain|lib)\//.test(target))).toEqual([])
})

test('only src/config.ts reads the environment', () => {
  const readers = files.filter((file) => /process\.env\b/.test(readFileSync(join(root, file), 'utf8')))
  expect(readers).toEqual(['src/config.ts'])
})

test('the check sees imports at all', () => {
  const targets = importsOf('src/main.ts').map(({ target }) => relative('src', target))
  expect(targets).toContain('config.ts')
  expect(table.get('rules')).toEqual(['domain'])
})
