/**
 * Loaded into a node before anything else (`--import`): its clock differs from the true one by as many milliseconds as
 * a file says, and jumps when that changes. Timers and `performance.now()` go on, as they do when a clock is set.
 */
import { readFileSync } from 'node:fs'

const RealDate = Date
const file = process.env['POMBO_SOAK_CLOCK_FILE']
let aheadMs = 0

const read = () => {
  try {
    aheadMs = Number(readFileSync(file!, 'utf8')) || 0
  } catch {
    // Not written yet.
  }
}
const now = () => RealDate.now() + aheadMs

if (file) {
  read()
  setInterval(read, 100).unref()
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget): object =>
      args.length === 0 ? new RealDate(now()) : (Reflect.construct(target, args, newTarget) as object),
    get: (target, key, receiver): unknown => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  })
}
