/** How far a long command is: nothing for the first second, then on a terminal one line that moves, elsewhere a line now and then. */
import type { Io } from './io.ts'

const quietMs = 1_000
const terminalEveryMs = 100
const elsewhereEveryMs = 10_000

export type Progress = { show(part: number | undefined, text: string): void; end(): void }

export function createProgress(io: Io): Progress {
  const startedAt = performance.now()
  let shownAt = startedAt + quietMs - (io.isTerminal ? terminalEveryMs : elsewhereEveryMs)
  let isShown = false
  return {
    show(part, text) {
      const now = performance.now()
      if (now - startedAt < quietMs || now - shownAt < (io.isTerminal ? terminalEveryMs : elsewhereEveryMs))
        return
      shownAt = now
      const whole = part === undefined ? text : `${bar(part)} ${text}`
      if (!io.isTerminal) return io.err(whole)
      isShown = true
      process.stderr.write(`\r\u001b[2K${whole}`)
    },
    end() {
      if (isShown) process.stderr.write('\r\u001b[2K')
      isShown = false
    },
  }
}

function bar(part: number): string {
  const bounded = Math.max(0, Math.min(1, part))
  return `${'█'.repeat(Math.round(bounded * 20)).padEnd(20, '░')} ${String(Math.floor(bounded * 100)).padStart(3)} %`
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

export function showBytes(bytes: number): string {
  let at = 0
  let value = bytes
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`
}
