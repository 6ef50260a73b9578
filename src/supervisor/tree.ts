import { fork, type ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { rescueConnections } from './connections.ts'
import { createMetricsCollector } from './metrics.ts'
import type { ChildKind, TreeState } from './messages.ts'
import { openSlot, type Slot, type SlotEvent, type SupervisorLog } from './slot.ts'

export type ReadyChild = { kind: ChildKind; name: string; pid: number | undefined; facts: unknown }

export type Tree = {
  /** Settles when every process was ready once; fails with a StartError when one cannot start. */
  started: Promise<ReadyChild[]>
  /** Looks at the database again and tells all children what changed. */
  refresh(): void
  /** Ends every child at once; their places are filled again. */
  restartAll(): void
  drain(withinMs: number): Promise<void>
  kill(): void
}

/**
 * How far a heap may grow before it is collected. Left to itself Node lets it grow to four times what is alive, and
 * three processes under load held 1 GB; collected at every opportunity, accepting cost a third more of the processor.
 * The nursery is collected by one thread: it takes some three milliseconds, and helpers that come for so little cost the
 * other processes more than they save (a tenth more accepts without them, with every core busy).
 */
const heapFlags = {
  serve: ['--no-parallel-scavenge', '--max-semi-space-size=16', '--heap-growing-percent=50'],
  worker: ['--no-parallel-scavenge', '--max-semi-space-size=8', '--heap-growing-percent=50'],
}

/** Why the first start came to nothing, as a sentence. */
export class StartError extends Error {}

export function openTree(options: {
  kinds: ChildKind[]
  /** The program that a child runs. */
  entry: string
  envOf: (kind: ChildKind) => NodeJS.ProcessEnv
  isDatabaseUp: () => boolean
  heapMib: number
  log: SupervisorLog
}): Tree {
  const metrics = createMetricsCollector()
  const wasReady = new Map<Slot, ReadyChild>()
  let isDraining = false
  let settle: { resolve(children: ReadyChild[]): void; reject(error: Error): void }
  const started = new Promise<ReadyChild[]>((resolve, reject) => (settle = { resolve, reject }))
  const slots: Slot[] = []
  cluster.setupPrimary({
    exec: options.entry,
    args: [],
    execArgv: [...heapFlags.serve, `--max-old-space-size=${options.heapMib}`],
  })

  const state = (): TreeState => {
    const reasons = slots.filter((slot) => slot.isFailing()).map((slot) => `${slot.name} keeps dying`)
    if (wasReady.size < slots.length) reasons.push('starting')
    if (!options.isDatabaseUp()) reasons.push('the database is down')
    if (isDraining) reasons.push('stopping')
    return { isReady: reasons.length === 0, reasons }
  }
  const refresh = () => {
    for (const slot of slots) slot.send({ pombo: 'state', state: state() })
  }

  function onEvent(slot: Slot, event: SlotEvent): void {
    switch (event.kind) {
      case 'ready':
        wasReady.set(slot, { kind: slot.kind, name: slot.name, pid: slot.pid(), facts: event.facts })
        refresh()
        if (wasReady.size === options.kinds.length) settle.resolve([...wasReady.values()])
        return
      case 'cannot-start':
        settle.reject(new StartError(event.sentence))
        return
      case 'died':
        // Killed from outside it may try again; a program that ends by itself before its first work will do so again.
        if (!wasReady.has(slot) && event.signal === null) {
          settle.reject(
            new StartError(
              `${slot.name} ended with code ${event.code} before it was ready; its own words stand above.`,
            ),
          )
        }
        refresh()
        return
      case 'message':
        if (event.message.pombo === 'metrics') metrics.take(slot, event.message.id, event.message.values)
        if (event.message.pombo === 'ask-metrics') void answerMetrics(slot, event.message.id)
    }
  }

  async function answerMetrics(slot: Slot, id: number): Promise<void> {
    slot.send({ pombo: 'metrics-text', id, text: await metrics.collect(slots) })
  }

  const counts = new Map<ChildKind, number>()
  for (const kind of options.kinds) {
    const number = (counts.get(kind) ?? 0) + 1
    counts.set(kind, number)
    const forkOne = () => forkChild(kind, options.entry, options.envOf(kind), options.heapMib)
    slots.push(openSlot({ kind, name: `${kind}-${number}`, fork: forkOne, log: options.log, onEvent }))
  }
  return {
    started,
    refresh,
    restartAll: () => slots.forEach((slot) => slot.kill()),
    async drain(withinMs) {
      isDraining = true
      refresh()
      await Promise.all(slots.map((slot) => slot.drain(withinMs)))
    },
    kill: () => slots.forEach((slot) => slot.kill()),
  }
}

/**
 * Serving processes share their listening sockets through node:cluster: the supervisor accepts and deals connections
 * round, so a process that dies takes only its own along. A worker listens for itself and needs none of that.
 */
function forkChild(kind: ChildKind, entry: string, env: NodeJS.ProcessEnv, heapMib: number): ChildProcess {
  if (kind === 'worker')
    return fork(entry, [], { env, execArgv: [...heapFlags.worker, `--max-old-space-size=${heapMib}`] })
  const worker = cluster.fork(env)
  // A message to a process that has just died; its `exit` follows, and an error without listener would end us.
  worker.on('error', () => undefined)
  rescueConnections(worker)
  return worker.process
}
