#!/usr/bin/env node
import { join } from 'node:path'
import { main, runNode } from './run.mjs'
import { root, setUp } from './setup.mjs'

await main(async (args) => {
  const isLinked = args[0] === 'start'
  const node = await setUp({ needsConsole: isLinked })
  // Paths on the command line are the caller's: the working folder stays.
  return runNode(node, [join(root, 'src', 'cli', 'main.ts'), ...args], { cwd: process.cwd(), isLinked })
})
