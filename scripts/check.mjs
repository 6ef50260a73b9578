/** Everything that can be checked without running the program. Add a line to `checks` for a check of your own. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { main } from './run.mjs'
import { root, setUp } from './setup.mjs'

const bin = (name) => join('node_modules', name)

const checks = [
  { name: 'types', args: [bin('typescript/bin/tsc'), '--noEmit', '-p', '.'] },
  {
    name: 'types of the console',
    args: [bin('typescript/bin/tsc'), '--noEmit', '-p', 'console'],
    needs: 'console/tsconfig.json',
  },
  { name: 'lint', args: [bin('oxlint/bin/oxlint'), '--type-aware'] },
  { name: 'format', args: [bin('oxfmt/bin/oxfmt'), '--check'] },
  { name: 'licences and install scripts', args: ['scripts/licences.mjs'] },
  { name: 'generated files', args: ['src/cli/main.ts', 'generate', '--check'], needs: 'src/cli/generate.ts' },
]

await main(async () => {
  const node = await setUp()
  let failed = 0
  for (const { name, args, needs } of checks) {
    if (needs && !existsSync(join(root, needs))) continue
    const startedAt = Date.now()
    const { status, stdout, stderr } = spawnSync(node, args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    const isGood = status === 0
    if (!isGood) failed += 1
    process.stdout.write(
      `${isGood ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`,
    )
    if (!isGood) process.stdout.write(`${stdout}${stderr}\n`)
  }
  return failed === 0 ? 0 : 1
})
