/** Tells how the lines driven here are doing, for pages: their sessions, their breakers, their last faults. */
import type { DriverError } from '../drivers/errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Queryable } from '../store/db.ts'
import { saveLineHealth, type LineFault, type LineHealth } from '../store/line-health.ts'
import type { DrivenLines } from './driven-lines.ts'

const maxWords = 500

/** Of one message alone: they say nothing about the line. */
const ofMessages: readonly DriverError['kind'][] = ['rejected', 'opted_out', 'invalid_message']

export type HealthReporter = {
  /** What came of a hand-over that failed. */
  note(lineId: string, error: DriverError): void
  /** Writes down what has changed since the last time. */
  save(): Promise<void>
}

export function createHealthReporter(db: Queryable, clock: Clock, lines: DrivenLines): HealthReporter {
  const faults = new Map<string, LineFault>()
  let told = new Map<string, string>()
  return {
    note(lineId, { kind, code, message, isRecipientOnly }) {
      if (ofMessages.includes(kind) || isRecipientOnly) return
      faults.set(lineId, { kind, code, message: message.slice(0, maxWords), at: clock.now() })
    },
    async save() {
      const now = clock.now()
      const nowMs = performance.now()
      const changed: LineHealth[] = []
      const current = new Map<string, string>()
      for (const { line, lane, session } of lines.values()) {
        const { isUp, detail } = session?.health() ?? { isUp: false, detail: 'no session' }
        const heldMs = lane.heldForMs(nowMs)
        const state = {
          lineId: line.id,
          epoch: lane.epoch,
          isUp,
          detail: detail.slice(0, maxWords),
          lastError: faults.get(line.id) ?? null,
        }
        // Told with the second, or it would differ at each look.
        const heldUntil = heldMs > 0 ? new Date(Math.ceil((now.getTime() + heldMs) / 1000) * 1000) : null
        const text = JSON.stringify([state, heldUntil])
        current.set(line.id, text)
        if (told.get(line.id) !== text) changed.push({ ...state, heldUntil })
      }
      for (const lineId of faults.keys()) if (!current.has(lineId)) faults.delete(lineId)
      if (changed.length > 0) await saveLineHealth(db, changed)
      told = current
    },
  }
}
