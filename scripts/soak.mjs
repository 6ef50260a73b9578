import { main, runNode } from './run.mjs'
import { setUp } from './setup.mjs'

await main(async (args) => runNode(await setUp(), ['test/soak/main.ts', ...args]))
