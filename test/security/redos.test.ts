/**
 * Every regular expression of the program, found in its sources, against texts made to send it astray: the time may
 * grow with the length of the text, not with its square. Growth is a ratio of processor time at two sizes; each
 * expression runs in a thread that is ended when it does not come back.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { Worker } from 'node:worker_threads'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'

const root = new URL('../../src/', import.meta.url)

type Found = { source: string; flags: string; where: string }

/** Those of the command line, of settings and of tests read what the operator or we wrote. */
const isOurs = (name: string) =>
  !name.endsWith('.test.ts') && !/^(cli\/|supervisor\/|sandbox\/page\/|config\.ts)/.test(name)

function regularExpressions(): Found[] {
  const found = new Map<string, Found>()
  const add = (source: string, flags: string, where: string) => {
    const key = `/${source}/${flags}`
    if (!found.has(key)) found.set(key, { source, flags, where })
  }
  const files = readdirSync(root, { recursive: true }).map(String)
  for (const name of files.filter((file) => file.endsWith('.ts') && isOurs(file))) {
    const code = stripTypeScriptTypes(readFileSync(new URL(name, root), 'utf8'))
    visit(parseAst(code), (node) => {
      if (node.regex) add(node.regex.pattern, node.regex.flags, name)
      // Schemas carry theirs as text.
      if (node.type === 'Property' && node.key?.name === 'pattern' && typeof node.value?.value === 'string')
        add(node.value.value, 'u', name)
    })
  }
  return [...found.values()]
}

type Node = {
  type?: string
  regex?: { pattern: string; flags: string }
  key?: { name?: string }
  value?: { value?: unknown }
}

function visit(value: unknown, look: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) look(value)
  for (const child of Object.values(value)) visit(child, look)
}

/** Runs inside the thread: the slowest text at one size, and the same text at four times the size. */
const program = `
const { parentPort } = require('node:worker_threads')
const fills = ['a', 'Z', '0', ' ', '\\t', '\\n', '.', '-', '_', '@', '/', '\\\\', '<', '&', '=', ':', ';', ',', '+', '"', '(', '[', '{', '\`', 'é', '\\u0300', '😀']
const wordsOf = (source) => source.replace(/\\\\[a-zA-Z]|[\\[\\](){}|^$*+?.\\\\]/g, ' ').split(' ').filter((word) => word.length > 1 && word.length < 20).slice(0, 6)
const pairs = (source) => {
  const own = [...new Set(source.replace(/\\\\[a-zA-Z]/g, '').replace(/[\\\\^$*+?|(){}]/g, ''))].slice(0, 7)
  const alphabet = [...new Set([...own, 'a', '0', ' '])]
  return alphabet.flatMap((one) => alphabet.filter((other) => other !== one).map((other) => one + other))
}
const texts = (source, size) => {
  const units = [...fills, ...wordsOf(source), ...pairs(source)]
  return units.flatMap((unit) => {
    const body = unit.repeat(Math.ceil(size / unit.length))
    return [body + '\\u0001', (wordsOf(source)[0] ?? '') + body + '!', 'a' + body]
  })
}
const time = (source, flags, text) => {
  const expression = new RegExp(source, flags.replace('y', ''))
  const startedAt = process.threadCpuUsage()
  if (flags.includes('g')) text.replace(expression, '')
  else expression.test(text)
  const { user, system } = process.threadCpuUsage(startedAt)
  return (user + system) / 1000
}
parentPort.on('message', ({ source, flags, size }) => {
  const small = texts(source, size)
  let worst = 0
  let at = 0
  small.forEach((text, index) => {
    const ms = time(source, flags, text)
    if (ms > worst) [worst, at] = [ms, index]
  })
  // The best of several, since anything else on the machine only adds.
  const best = (text) => Math.min(...Array.from({ length: 3 }, () => time(source, flags, text)))
  const smallMs = best(small[at])
  const largeMs = best(texts(source, size * 4)[at])
  parentPort.postMessage({ smallMs, largeMs, text: small[at].slice(0, 12) })
})
`

type Growth = { smallMs: number; largeMs: number; text: string }

function startThread() {
  let worker = new Worker(program, { eval: true })
  return {
    /** Undefined: it did not come back. */
    measure: (found: Found, size: number, withinMs: number) =>
      new Promise<Growth | undefined>((resolve, reject) => {
        const timer = setTimeout(() => {
          void worker.terminate()
          worker = new Worker(program, { eval: true })
          resolve(undefined)
        }, withinMs)
        worker.removeAllListeners()
        worker.once('error', reject)
        worker.once('message', (growth: Growth) => {
          clearTimeout(timer)
          resolve(growth)
        })
        worker.postMessage({ source: found.source, flags: found.flags, size })
      }),
    stop: () => worker.terminate(),
  }
}

/**
 * A text four times as long takes four times as long; sixteen times is the square. Below this many ms it is noise, and
 * the processor's time comes in steps of four.
 */
const noiseMs = 32
const isSteep = ({ smallMs, largeMs }: Growth) => largeMs > noiseMs && largeMs / Math.max(smallMs, 4) > 8

test('no regular expression takes more than its share of time', { timeout: 240_000 }, async () => {
  const all = regularExpressions()
  expect(all.length).toBeGreaterThan(100)
  const thread = startThread()
  const steep: string[] = []
  try {
    for (const found of all) {
      const name = `/${found.source}/${found.flags}`
      const growth = await thread.measure(found, 4_000, 20_000)
      // Measured again before it is accused: a busy machine can make anything look steep once.
      const again = growth && isSteep(growth) ? await thread.measure(found, 4_000, 20_000) : growth
      if (again === undefined || isSteep(again))
        steep.push(
          `${found.where}: ${name} ${again ? `${again.smallMs} → ${again.largeMs} ms on ${JSON.stringify(again.text)}…` : 'never ends'}`,
        )
    }
  } finally {
    await thread.stop()
  }
  expect(steep).toEqual([])
})

test('the measure tells a steep one from a flat one', { timeout: 120_000 }, async () => {
  const thread = startThread()
  try {
    const squared = await thread.measure({ source: '\\s+$', flags: '', where: '' }, 4_000, 30_000)
    expect(squared && isSteep(squared), JSON.stringify(squared)).toBe(true)
    expect(await thread.measure({ source: '^(a+)+$', flags: '', where: '' }, 4_000, 1_500)).toBeUndefined()
    const flat = await thread.measure({ source: '^[a-z0-9]+$', flags: '', where: '' }, 4_000, 30_000)
    expect(flat && isSteep(flat), JSON.stringify(flat)).toBe(false)
  } finally {
    await thread.stop()
  }
})
