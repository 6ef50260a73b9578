/**
 * The child's end of the supervisor. Everything here is about this one process and its channel, which Node itself
 * keeps as a global; without a supervisor (a program run alone, a test) the same calls work on the process alone.
 */
import type { Registry } from 'prom-client'
import { isToChild, type ToChild, type ToSupervisor, type TreeState } from './messages.ts'

const METRICS_TIMEOUT_MS = 5_000

export type Drain = (limits: { withinMs: number }) => Promise<void>

const waitingForMetrics = new Map<number, (text: string) => void>()
let lastRequest = 0
let treeState: TreeState | undefined
let register: Registry | undefined
let drain: Drain | undefined
let draining: Promise<void> | undefined

export function isSupervised(): boolean {
  return process.send !== undefined
}

/** Says that this process does its work. `facts` (addresses and the like) reach the supervisor's `onReady`. */
export function childReady(facts: unknown = {}): void {
  tell({ pombo: 'ready', facts })
}

/** Says in a sentence why this process cannot start; at the first start the whole tree then stops with it. */
export function childCannotStart(sentence: string): void {
  tell({ pombo: 'cannot-start', sentence })
}

/** Called once, early: what to do when asked to stop. The process exits when it is done, or when time is up. */
export function onDrain(work: Drain): void {
  drain = work
}

/** Registers the metrics of this process, which are summed with those of all others. */
export function shareMetrics(registry: Registry): void {
  register = registry
}

/** The metrics of all processes together, as Prometheus reads them; alone, those of this one. */
export async function askForMetrics(): Promise<string> {
  if (!isSupervised()) return (await register?.metrics()) ?? ''
  const id = ++lastRequest
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waitingForMetrics.delete(id)
      reject(new Error(`the supervisor did not answer within ${METRICS_TIMEOUT_MS} ms`))
    }, METRICS_TIMEOUT_MS)
    waitingForMetrics.set(id, (text) => {
      clearTimeout(timer)
      resolve(text)
    })
    tell({ pombo: 'ask-metrics', id })
  })
}

/** What the supervisor last said of the whole tree; alone, a process is its own tree. */
export function stateOfTree(): TreeState {
  if (treeState) return treeState
  return isSupervised() ? { isReady: false, reasons: ['starting'] } : { isReady: true, reasons: [] }
}

/** Takes up the channel and the signals; the first thing a child does. */
export function joinSupervisor(options: { drainMs: number }): void {
  process.on('message', (message: unknown) => {
    if (isToChild(message)) hear(message)
  })
  // The supervisor is gone: its database, its lock and its port are free for the next one, and we are in its way.
  process.on('disconnect', () => process.exit(1))
  process.on('SIGTERM', () => void drainAndExit(options.drainMs))
  // Ctrl-C reaches the whole process group; a child waits for the supervisor's word.
  process.on('SIGINT', () => {
    if (!isSupervised()) void drainAndExit(options.drainMs)
  })
}

function hear(message: ToChild): void {
  switch (message.pombo) {
    case 'drain':
      void drainAndExit(message.withinMs)
      return
    case 'state':
      treeState = message.state
      return
    case 'collect-metrics':
      void register?.getMetricsAsJSON().then((values) => tell({ pombo: 'metrics', id: message.id, values }))
      return
    case 'metrics-text':
      waitingForMetrics.get(message.id)?.(message.text)
      waitingForMetrics.delete(message.id)
  }
}

async function drainAndExit(withinMs: number): Promise<void> {
  setTimeout(() => process.exit(1), withinMs).unref()
  draining ??= drain?.({ withinMs }) ?? Promise.resolve()
  const exitCode = await draining.then(
    () => 0,
    () => 1,
  )
  process.exit(exitCode)
}

function tell(message: ToSupervisor): void {
  // The supervisor may have died a moment ago; `disconnect` deals with that.
  if (process.connected) process.send?.(message, () => undefined)
}
