/** The lines this worker drives: each a lane with an open session of its driver. */
import type { Clock } from '../lib/clock.ts'
import { showId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { DriverLine, LineReport, LineSession } from '../drivers/driver.ts'
import { findDriver } from '../drivers/registry.ts'
import { checkSettings } from '../drivers/settings.ts'
import { withoutSecrets } from '../drivers/without-secrets.ts'
import type { Dispatcher } from '../lanes/dispatcher.ts'
import { Lane, type LaneLimits } from '../lanes/lane.ts'
import { reconcileMs } from '../flows/dispatch-message.ts'
import type { Queryable } from '../store/db.ts'
import {
  clearPauseAlerts,
  findExistingLines,
  loadDrivenLines,
  pauseLineForFault,
  type DrivenLine,
  type OwnedLane,
} from '../store/lanes.ts'
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

type Driven = {
  line: DrivenLine
  lane: Lane
  session?: LineSession
  /** What the session, or the vain attempt to open one, was made from. */
  openedAs?: string
  /** Another session is on its way: nothing is handed to this one, and what it says of the line no longer counts. */
  isStale: boolean
  /** Raised when a person resumes the line: a new session for a new try. */
  resumes: number
  /** Why it does not send, when that is not written down yet. */
  fault?: string
  isRecording: boolean
  isLeaving: boolean
  /** Sessions are closed and opened one after another, each after what is in flight. */
  work: Promise<void>
}

/** How long a change of the line waits for the answers to what is in flight; after that they are unknown. */
const patienceMs = 30_000
/** For writing down what a closed session left. */
const settleMs = 5_000

export class DrivenLines {
  readonly #options: DrivenLinesOptions
  readonly #driven = new Map<string, Driven>()
  /** Sessions that are on their way out: the next one of the same line waits for them. */
  readonly #closing = new Map<string, Promise<void>>()
  /** Given back with this epoch: a list of lanes that was read before names them still. */
  readonly #left = new Map<string, number>()
  #dispatcher!: Dispatcher
  #mayDrive: () => boolean = () => false

  constructor(options: DrivenLinesOptions) {
    this.#options = options
  }

  /** The dispatcher asks for sessions and is given lanes, so each needs the other. */
  attach(dispatcher: Dispatcher, mayDrive: () => boolean): void {
    this.#dispatcher = dispatcher
    this.#mayDrive = mayDrive
  }

  get(lineId: string): Driven | undefined {
    return this.#driven.get(lineId)
  }

  values(): Iterable<Driven> {
    return this.#driven.values()
  }

  /** Brings lanes and sessions in line with what is owned and with how the lines are set up now. */
  async align(lanes: readonly OwnedLane[]): Promise<void> {
    const { db, clock } = this.#options
    const now = clock.now()
    const owned = lanes.filter(({ lineId, epoch }) => this.#isOurs(lineId, epoch))
    const epochs = new Map(owned.map((lane) => [lane.lineId, lane.epoch]))
    const lost = [...this.#driven.values()].filter(({ lane }) => epochs.get(lane.lineId) !== lane.epoch)
    if (lost.length > 0) await this.#lose(lost)
    await doubtOrphans(
      db,
      owned.map((lane) => ({ line_id: lane.lineId, epoch: lane.epoch })),
      now,
      new Date(now.getTime() + reconcileMs),
    )
    const fresh = await loadDrivenLines(
      db,
      [...epochs.keys()],
      [...epochs.keys()].map((id) => this.#driven.get(id)?.line.version ?? null),
    )
    for (const line of fresh) {
      const driven = this.#driven.get(line.id)
      const epoch = epochs.get(line.id)!
      if (driven) this.#change(driven, line)
      else if (this.#isOurs(line.id, epoch)) this.#begin(line, epoch)
    }
    const awake = fresh.flatMap(({ id, isPaused }) => (isPaused ? [] : [id]))
    if (awake.length + lost.length > 0)
      await clearPauseAlerts(db, [...awake, ...lost.map(({ line }) => line.id)], now)
    for (const driven of this.#driven.values()) {
      this.#adjust(driven)
      await this.#recordFault(driven)
    }
  }

  /** Not given back since the list was read. */
  #isOurs(lineId: string, epoch: number): boolean {
    return epoch > (this.#left.get(lineId) ?? -1)
  }

  /** Stops a line and resolves when nothing of it is in flight and its session is closed. */
  async stop(lineId: string, withinMs = patienceMs): Promise<void> {
    const driven = this.#driven.get(lineId)
    if (driven === undefined) return
    const { lane } = driven
    driven.isLeaving = true
    lane.stop()
    await lane.whenIdle(withinMs)
    this.#adjust(driven)
    await driven.work
    await lane.whenIdle(settleMs)
    this.#dispatcher.remove(lane)
    this.#left.set(lineId, lane.epoch)
    if (this.#driven.get(lineId) === driven) this.#driven.delete(lineId)
  }

  /** Another worker may take over soon: no line may be bound twice. Opened again when the lease is proven. */
  suspend(): void {
    for (const driven of this.#driven.values()) this.#adjust(driven)
  }

  /** The provider does not accept the line: it waits for a person instead of burning every message. */
  async pause(lineId: string, reason: string): Promise<void> {
    const driven = this.#driven.get(lineId)
    if (driven === undefined || driven.isStale || driven.line.isPaused || driven.fault !== undefined) return
    driven.fault = reason
    this.#limit(driven)
    this.#options.log.warn({ line: driven.line.name, reason }, 'line paused')
    await this.#recordFault(driven)
  }

  /** Until this has succeeded the line is paused in memory only, so it is tried with every heartbeat. */
  async #recordFault(driven: Driven): Promise<void> {
    const { db, clock } = this.#options
    if (driven.fault === undefined || driven.isRecording) return
    driven.isRecording = true
    try {
      await pauseLineForFault(db, driven.line, driven.fault, clock.now())
      driven.fault = undefined
      // No version: read again with the next heartbeat, since a person may have resumed it already.
      driven.line = { ...driven.line, isPaused: true, version: '' }
    } finally {
      driven.isRecording = false
    }
  }

  #begin(line: DrivenLine, epoch: number): void {
    const limits = { ratePerSecond: line.ratePerSecond, window: line.inFlightLimit, isPaused: true }
    const lane = new Lane(line.id, epoch, limits, performance.now())
    this.#driven.set(line.id, {
      line,
      lane,
      resumes: 0,
      isLeaving: false,
      isRecording: false,
      isStale: false,
      work: Promise.resolve(),
    })
    this.#left.delete(line.id)
    this.#dispatcher.add(lane)
  }

  #change(driven: Driven, line: DrivenLine): void {
    const isResumed = driven.line.isPaused && !line.isPaused
    driven.line = line
    if (isResumed) {
      driven.resumes++
      driven.lane.resume()
    }
    // Before anything is claimed for it: the old session of a resumed line would only pause it again.
    this.#adjust(driven)
    this.#limit(driven)
    this.#dispatcher.wake([line.id])
  }

  /** The session that should be there, if it is not: after what is in flight, the old one is closed first. */
  #adjust(driven: Driven): void {
    if (driven.isStale || this.#wanted(driven) === driven.openedAs) return
    driven.isStale = true
    this.#limit(driven)
    driven.work = driven.work.then(() => this.#reopen(driven))
  }

  #wanted({ line, isLeaving, resumes }: Driven): string | undefined {
    if (isLeaving || !line.isEnabled || !this.#mayDrive()) return undefined
    const { driver, settings, secretsSealed } = line
    // A new rate or a pause does not need a new connection.
    return JSON.stringify([resumes, driver, settings, secretsSealed?.toString('base64'), lineAddress(line)])
  }

  async #reopen(driven: Driven): Promise<void> {
    const { lane, session } = driven
    if (session) {
      await lane.whenIdle(driven.isLeaving ? 0 : patienceMs)
      driven.session = undefined
      await this.#close(lane.lineId, session)
    }
    if (!driven.isLeaving) await this.#closing.get(lane.lineId)
    driven.openedAs = this.#wanted(driven)
    driven.isStale = false
    if (driven.openedAs !== undefined) this.#open(driven)
    this.#limit(driven)
    this.#dispatcher.wake([lane.lineId])
  }

  #open(driven: Driven): void {
    const { line } = driven
    const { clock, log, outbound, report } = this.#options
    try {
      const driver = findDriver(line.driver)
      if (driver === undefined) throw new Error(`there is no driver named ${line.driver}`)
      const given = { ...line.settings, ...openSecrets(this.#options.sealer, line.secretsSealed) }
      const reading = checkSettings(driver.settings, given)
      if (!reading.ok) throw new Error(`setting ${reading.field} ${reading.reason}`)
      const session = driver.open(driverLine(line, reading.settings, this.#options.publicUrl), {
        clock,
        log: log.child({ line: line.name }),
        report: (reports) => report(line, reports),
        fetch: (url, request) => outbound.fetch('brokers', url, request),
        connect: (target) => outbound.connect('brokers', target),
      })
      driven.session = withoutSecrets(session, driver.settings, reading.settings)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.pause(line.id, reason).catch((fault: unknown) =>
        log.error({ err: fault }, 'a line could not be paused; trying again'),
      )
    }
  }

  /** Another worker has it now, and what is in flight here will not be settled by us; or the line is gone. */
  async #lose(lost: readonly Driven[]): Promise<void> {
    const existing = await findExistingLines(
      this.#options.db,
      lost.map(({ line }) => line.id),
    )
    for (const driven of lost) {
      const { lane } = driven
      driven.isLeaving = true
      this.#dispatcher.remove(lane)
      if (this.#driven.get(lane.lineId) === driven) this.#driven.delete(lane.lineId)
      const isGone = !existing.has(lane.lineId)
      const leave = async () => {
        if (isGone) await lane.whenIdle(patienceMs)
        await driven.session?.close()
      }
      this.#remember(lane.lineId, leave())
    }
  }

  async #close(lineId: string, session: LineSession): Promise<void> {
    const closed = session.close()
    this.#remember(lineId, closed)
    await closed.catch(() => {})
  }

  #remember(lineId: string, closed: Promise<void>): void {
    const well = closed.catch((error: unknown) =>
      this.#options.log.warn({ err: error }, 'a session did not close well'),
    )
    const both = Promise.all([this.#closing.get(lineId), well]).then(() => {
      if (this.#closing.get(lineId) === both) this.#closing.delete(lineId)
    })
    this.#closing.set(lineId, both)
  }

  #limit(driven: Driven): void {
    driven.lane.change(limitsOf(driven), performance.now())
  }
}

const limitsOf = ({ line, session, isStale, fault }: Driven): LaneLimits => ({
  ratePerSecond: line.ratePerSecond,
  window: Math.min(line.inFlightLimit, session?.window ?? line.inFlightLimit),
  isPaused: line.isPaused || !line.isEnabled || fault !== undefined || session === undefined || isStale,
})

export const driverLine = (
  line: DrivenLine,
  settings: Record<string, unknown>,
  publicUrl: string,
): DriverLine => ({
  id: line.id,
  channel: line.channel,
  address: lineAddress(line),
  settings,
  hookUrl: `${publicUrl}/hooks/${line.driver}/${showId('lin', line.id)}`,
})
