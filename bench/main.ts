/**
 * `npm run bench`: measures Pombo side by side with its baselines in one run. Timings of a shared machine are noise;
 * ratios of interleaved pairs are not, so every row is a ratio: median and spread over the pairs.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { measureAccept } from './accept.ts'
import { stopAll } from './programs.ts'
import { printTable, type Row } from './table.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

const measurements: Record<string, (options: { pairs: number; seconds: number }) => Promise<Row[]>> = {
  accept: measureAccept,
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(`npm run bench -- [--quick] [--only ${Object.keys(measurements).join('|')}]`)
    return 0
  }
  const names = values.only === undefined ? Object.keys(measurements) : [values.only]
  const unknown = names.find((name) => !(name in measurements))
  if (unknown !== undefined) {
    console.error(
      `There is no measurement named ${unknown}; there are ${Object.keys(measurements).join(', ')}.`,
    )
    return 2
  }
  const rows: Row[] = []
  for (const name of names)
    rows.push(
      ...(await measurements[name]!(values.quick ? { pairs: 3, seconds: 4 } : { pairs: 7, seconds: 6 })),
    )
  printTable(rows)
  await writeResults(rows)
  return rows.every((row) => row.gate === undefined || row.median >= row.gate) ? 0 : 1
}

async function writeResults(rows: Row[]): Promise<void> {
  const folder = path.join(import.meta.dirname, 'results')
  await mkdir(folder, { recursive: true })
  const machine = {
    cpus: os.cpus().length,
    model: os.cpus()[0]?.model,
    memory: os.totalmem(),
    node: process.version,
  }
  const file = path.join(folder, `${new Date().toISOString().replaceAll(':', '-')}.json`)
  await writeFile(file, JSON.stringify({ machine, rows }, undefined, 2))
  console.log(`\nWritten to ${path.relative(process.cwd(), file)}.`)
}

try {
  process.exitCode = await main()
} finally {
  await stopAll()
}
