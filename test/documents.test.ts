/** Links between our documents lead somewhere: to a file that is there, and to a heading that it has. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))

const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

/** As those who show Markdown make them. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )

const linksOf = (text: string): string[] =>
  [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!)

test.for(documents)('%s', (name) => {
  const text = readFileSync(join(root, name), 'utf8')
  const dead = linksOf(text).filter((link) => {
    if (/^[a-z]+:/i.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const file = path === '' ? join(root, name) : join(root, dirname(name), path)
    if (!existsSync(file)) return true
    return anchor !== undefined && file.endsWith('.md') && !anchorsOf(readFileSync(file, 'utf8')).has(anchor)
  })
  expect(dead).toEqual([])
})

test('the documents are found, and a dead link would be', () => {
  expect(documents).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', join('docs', 'security.md')]))
  expect(linksOf('[a](b.md) and [c](d.md#e)')).toEqual(['b.md', 'd.md#e'])
  expect(anchorsOf('## What is protected, and how')).toContain('what-is-protected-and-how')
})
