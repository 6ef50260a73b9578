/** Files that are written from the source; a check says which are stale. */
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { envExample, settingsList } from '../config.ts'
import type { Command } from './command.ts'

const root = new URL('../../', import.meta.url)

type GeneratedFile = {
  path: string
  /** The whole text, from what the file holds now. */
  text(current: string): string | Promise<string>
}

/** Only what stands between the two marks is generated; people write around it. */
function between(name: string, current: string, text: string): string {
  const from = `<!-- generated: ${name} -->`
  const to = `<!-- end of ${name} -->`
  const start = current.indexOf(from)
  const end = current.indexOf(to)
  if (start === -1 || end < start) throw new Error(`The marks of "${name}" are missing.`)
  return `${current.slice(0, start)}${from}\n\n${text}\n\n${current.slice(end)}`
}

export const generatedFiles: readonly GeneratedFile[] = [
  { path: '.env.example', text: () => envExample() },
  { path: 'docs/operating.md', text: (current) => between('settings', current, settingsList()) },
  { path: 'console/src/api-types.ts', text: adminTypes },
]

/** Loaded when it is wanted: all of the admin API comes along. */
async function adminTypes(): Promise<string> {
  const { adminDocument } = await import('../http/admin/openapi.ts')
  const { prefix } = await import('../http/admin/index.ts')
  const { typesOf } = await import('../http/docs/typescript.ts')
  return typesOf(adminDocument, prefix)
}

/** Those whose text is not what the source gives, with what it should be. */
export async function staleFiles(): Promise<{ path: string; text: string }[]> {
  const stale: { path: string; text: string }[] = []
  for (const file of generatedFiles) {
    const current = await readFile(new URL(file.path, root), 'utf8').catch(() => '')
    const text = await file.text(current)
    if (text !== current) stale.push({ path: file.path, text })
  }
  return stale
}

export const generate: Command = {
  summary: 'Write the files that are generated from the source.',
  options: { check: { type: 'boolean', describe: 'Write nothing; fail when one is stale.' } },
  async run(given, io) {
    const stale = await staleFiles()
    if (given.isSet('check')) {
      for (const { path } of stale) io.err(`${path} is stale: run "npm run pombo -- generate".`)
      return stale.length === 0 ? 0 : 1
    }
    for (const { path, text } of stale) {
      await writeFile(fileURLToPath(new URL(path, root)), text)
      io.out(`wrote ${path}`)
    }
    return 0
  },
}
