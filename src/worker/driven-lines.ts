/** The lines this worker drives: each a lane with an open session of its driver. */
import type { Clock } from '../lib/clock.ts'
import { showId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { DriverLine, LineReport, LineSession } from '../drivers/driver.ts'
import { findDriver } from '../drivers/registry.ts'
import { checkSettings } from '../drivers/settings.ts'
import type { Dispatcher } from '../lanes/dispatcher.ts'
import { Lane, type LaneLimits } from '../lanes/lane.ts'
import { reconcileMs } from '../flows/dispatch-message.ts'
import { clearAlert, raiseAlert } from '../store/alerts.ts'
import type { Queryable } from '../store/db.ts'
import { loadDrivenLines, pauseLineForFault, type DrivenLine, type OwnedLane } from '../store/lanes.ts'
import { lineAddress, openSecrets } from '../store/lines.ts'
import { doubtOrphans } from '../store/outbox.ts'

export type DrivenLinesOptions = {
  db: Queryable
  clock: Clock
  log: Log
  sealer: Sealer
  outbound: Outbound
  publicUrl: string
  /** Stores what came over a session. */
  report(line: { id: string; companyId: string }, reports: LineReport[]): Promise<void>
}

type Driven = { line: DrivenLine; lane: Lane; session?: LineSession; fingerprint: string }

export class DrivenLines {
  readonly #options: DrivenLinesOptions
  readonly #driven = new Map<string, Driven>()
  #dispatcher!: Dispatcher

  constructor(options: DrivenLinesOptions) {
    this.#options = options
  }

  /** The dispatcher asks for sessions and is given lanes, so each needs the other. */
  attach(dispatcher: Dispatcher): void {
    this.#dispatcher = dispatcher
  }

  get(lineId: string): Driven | undefined {
    return this.#driven.get(lineId)
  }

  values(): Iterable<Driven> {
    return this.#driven.values()
  }

  /** Brings lanes and sessions in line with what is owned and with how the lines are set up now. */
  async align(owned: readonly OwnedLane[]): Promise<void> {
    const { db, clock } = this.#options
    const epochs = new Map(owned.map((lane) => [lane.lineId, lane.epoch]))
    for (const [lineId, { lane }] of this.#driven)
      if (epochs.get(lineId) !== lane.epoch) await this.#lose(lineId)
    const fresh = owned.filter((lane) => !this.#driven.has(lane.lineId))
    if (fresh.length > 0) {
      const now = clock.now()
      const lanes = fresh.map((lane) => ({ line_id: lane.lineId, epoch: lane.epoch }))
      await doubtOrphans(db, lanes, now, new Date(now.getTime() + reconcileMs))
    }
    for (const line of await loadDrivenLines(db, [...epochs.keys()])) {
      const known = this.#driven.get(line.id)
      if (known === undefined) await this.#begin(line, epochs.get(line.id)!)
      else if (known.line.version !== line.version) await this.#change(known, line)
    }
  }

  /** Stops these and resolves when nothing of theirs is in flight. */
  async stop(lineIds: readonly string[]): Promise<void> {
    await Promise.all(
      lineIds.map(async (lineId) => {
        await this.#dispatcher.remove(lineId)
        await this.#driven.get(lineId)?.session?.close()
        this.#driven.delete(lineId)
      }),
    )
  }

  async close(): Promise<void> {
    await this.stop([...this.#driven.keys()])
  }

  /** The provider does not accept the line: it waits for a person instead of burning every message. */
  async pause(lineId: string, reason: string): Promise<void> {
    const driven = this.#driven.get(lineId)
    if (driven === undefined || driven.line.isPaused) return
    driven.line.isPaused = true
    driven.lane.change(limitsOf(driven), performance.now())
    const { db, clock, log } = this.#options
    log.warn({ line: driven.line.name, reason }, 'line paused')
    await pauseLineForFault(db, lineId, reason, clock.now())
    const { companyId, name } = driven.line
    await raiseAlert(
      db,
      { companyId, kind: 'line_paused', subject: lineId, message: `Line ${name} is paused: ${reason}` },
      clock.now(),
    )
  }

  async #begin(line: DrivenLine, epoch: number): Promise<void> {
    const driven: Driven = {
      line,
      lane: new Lane(
        line.id,
        epoch,
        { ratePerSecond: line.ratePerSecond, window: line.inFlightLimit, isPaused: true },
        performance.now(),
      ),
      fingerprint: fingerprintOf(line),
    }
    this.#driven.set(line.id, driven)
    await this.#open(driven)
    this.#dispatcher.add(driven.lane)
  }

  async #change(driven: Driven, line: DrivenLine): Promise<void> {
    const wasPaused = driven.line.isPaused
    driven.line = line
    const { db, clock } = this.#options
    if (wasPaused && !line.isPaused) {
      driven.lane.succeeded()
      await clearAlert(db, 'line_paused', line.id, clock.now())
    }
    const fingerprint = fingerprintOf(line)
    if (fingerprint !== driven.fingerprint || (wasPaused && !line.isPaused)) {
      driven.fingerprint = fingerprint
      const old = driven.session
      driven.session = undefined
      await this.#open(driven)
      await old?.close()
    }
    driven.lane.change(limitsOf(driven), performance.now())
    this.#dispatcher.wake([line.id])
  }

  async #open(driven: Driven): Promise<void> {
    const { line } = driven
    if (!line.isEnabled) return
    const driver = findDriver(line.driver)
    if (driver === undefined) return await this.pause(line.id, `there is no driver named ${line.driver}`)
    const settings = checkSettings(driver.settings, {
      ...line.settings,
      ...openSecrets(this.#options.sealer, line.secretsSealed),
    })
    if (!settings.ok) return await this.pause(line.id, `setting ${settings.field} ${settings.reason}`)
    const { clock, log, outbound, report } = this.#options
    driven.session = driver.open(driverLine(line, settings.settings, this.#options.publicUrl), {
      clock,
      log: log.child({ line: line.name }),
      report: (reports) => report(line, reports),
      fetch: (url, request) => outbound.fetch('brokers', url, request),
      connect: (target) => outbound.connect('brokers', target),
    })
    driven.lane.change(limitsOf(driven), performance.now())
  }

  /** Another worker has it now: whatever is still in flight here will not be settled by us. */
  async #lose(lineId: string): Promise<void> {
    const driven = this.#driven.get(lineId)
    driven?.lane.stop()
    this.#dispatcher.lanes.delete(lineId)
    this.#driven.delete(lineId)
    await driven?.session?.close()
  }
}

const limitsOf = ({ line, session }: Driven): LaneLimits => ({
  ratePerSecond: line.ratePerSecond,
  window: Math.min(line.inFlightLimit, session?.window ?? line.inFlightLimit),
  isPaused: line.isPaused || !line.isEnabled || session === undefined,
})

export const driverLine = (
  line: DrivenLine,
  settings: Record<string, unknown>,
  publicUrl: string,
): DriverLine => ({
  id: line.id,
  channel: line.channel,
  address: lineAddress({ ...line, email: line.email ?? undefined }),
  settings,
  hookUrl: `${publicUrl}/hooks/${line.driver}/${showId('lin', line.id)}`,
})

/** What a session depends on: a new rate or a pause does not need a new connection. */
const fingerprintOf = (line: DrivenLine): string =>
  JSON.stringify([
    line.driver,
    line.settings,
    line.secretsSealed?.toString('base64'),
    line.isEnabled,
    lineAddress(line),
  ])
