import type { ChildProcess } from 'node:child_process'
import { isToSupervisor, type ChildKind, type ToChild, type ToSupervisor } from './messages.ts'

export type SupervisorLog = {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}

export type SlotEvent =
  | { kind: 'ready'; facts: unknown }
  | { kind: 'cannot-start'; sentence: string }
  | { kind: 'died'; wasReady: boolean; code: number | null; signal: NodeJS.Signals | null }
  | { kind: 'message'; message: ToSupervisor }

/** A place in the tree that is to be filled by a living process, one after the other if need be. */
export type Slot = {
  kind: ChildKind
  name: string
  pid(): number | undefined
  isReady(): boolean
  /** It has died so often in a row that a person should look. */
  isFailing(): boolean
  restarts(): number
  send(message: ToChild): void
  /** Asks the process to finish, kills it when it has not within the time, and leaves the place empty. */
  drain(withinMs: number): Promise<void>
  kill(): void
}

/** The first death is answered at once; a process that keeps dying is tried every half minute, for ever. */
const BACKOFF_MS = [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
const FAILING_AFTER = 5
/** A process that lived this long was well: its next death counts as the first. */
const WELL_AFTER_MS = 30_000
/** What a process may take beyond its time to drain before it is killed. */
const GRACE_MS = 2_000

export function openSlot(options: {
  kind: ChildKind
  name: string
  fork: () => ChildProcess
  log: SupervisorLog
  onEvent: (slot: Slot, event: SlotEvent) => void
}): Slot {
  const { name, log } = options
  let child: ChildProcess
  let isReady = false
  let isClosing = false
  let deathsInARow = 0
  let restarts = 0
  let startedAt = 0
  let hasExited = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const slot: Slot = {
    kind: options.kind,
    name,
    pid: () => child.pid,
    isReady: () => isReady,
    isFailing: () => deathsInARow >= FAILING_AFTER,
    restarts: () => restarts,
    // A channel that has just closed is followed by `exit`.
    send: (message) => void (child.connected && child.send(message, () => undefined)),
    async drain(withinMs) {
      isClosing = true
      clearTimeout(timer)
      slot.send({ pombo: 'drain', withinMs })
      const killer = setTimeout(() => slot.kill(), withinMs + GRACE_MS)
      await hasExited
      clearTimeout(killer)
    },
    kill: () => void child.kill('SIGKILL'),
  }

  function start(): void {
    startedAt = performance.now()
    isReady = false
    child = options.fork()
    child.on('message', (message: unknown) => {
      if (isToSupervisor(message)) hear(message)
    })
    hasExited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve()
        died(code, signal)
      })
      // No process at all (out of memory or of process ids): there will be no `exit` either.
      child.on('error', (error) => {
        if (child.pid !== undefined) return
        log.error({ name, error: error.message }, 'a process could not be started')
        resolve()
        died(null, null)
      })
    })
  }

  function hear(message: ToSupervisor): void {
    if (message.pombo === 'ready') {
      isReady = true
      options.onEvent(slot, { kind: 'ready', facts: message.facts })
    } else if (message.pombo === 'cannot-start') {
      options.onEvent(slot, { kind: 'cannot-start', sentence: message.sentence })
    } else {
      options.onEvent(slot, { kind: 'message', message })
    }
  }

  function died(code: number | null, signal: NodeJS.Signals | null): void {
    const wasReady = isReady
    isReady = false
    if (isClosing) return
    deathsInARow = wasReady && performance.now() - startedAt > WELL_AFTER_MS ? 1 : deathsInARow + 1
    const waitMs = BACKOFF_MS[Math.min(deathsInARow, BACKOFF_MS.length) - 1] ?? 0
    const facts = { name, pid: child.pid, code, signal, deathsInARow, waitMs }
    if (deathsInARow < FAILING_AFTER) log.warn(facts, 'a process died and is started again')
    else
      log.error(
        facts,
        `a process has died ${deathsInARow} times in a row; the node is not ready until it stays up`,
      )
    options.onEvent(slot, { kind: 'died', wasReady, code, signal })
    if (isClosing) return
    timer = setTimeout(() => {
      restarts += 1
      start()
    }, waitMs)
  }

  start()
  return slot
}
