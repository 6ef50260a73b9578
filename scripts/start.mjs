import { main, runNode } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async (args) =>
  runNode(await setUp({ needsConsole: true }), ['src/cli/main.ts', 'start', ...args], { isLinked: true }),
)
