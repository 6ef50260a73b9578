import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const namedTest = /^`([\w/-]+\.test\.ts)` (.+)$/

test('every choice in docs/choices.md names a test that exists', async () => {
  const text = await readFile(new URL('../../../docs/choices.md', import.meta.url), 'utf8')
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, choice, cited]) => cited !== 'Test' && !/^-+$/.test(choice ?? ''))
  expect(rows.length).toBeGreaterThan(80)
  const missing: string[] = []
  for (const [, choice = '', cited = ''] of rows) {
    const [, file, title] = namedTest.exec(cited) ?? []
    if (file === undefined || title === undefined) {
      missing.push(`no test is named for: ${choice}`)
      continue
    }
    const source = await readFile(new URL(`../${file}`, import.meta.url), 'utf8').catch(() => '')
    if (!source.includes(title)) missing.push(`${file} has no test "${title}"`)
  }
  expect(missing).toEqual([])
})
