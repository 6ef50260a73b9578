/**
 * A provider's call to one of our hooks: the line's driver checks it on its raw bytes, what it reports is stored, then
 * it is answered. What is forged, or for a line that is not there, has no effect.
 */
import type { Driver, DriverLine, HookRequest, HookResult, LineReport } from '../drivers/driver.ts'
import { checkSettings } from '../drivers/settings.ts'
import { createBatcher } from '../lib/batch.ts'
import { parseId, showId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Sealer } from '../lib/secrets.ts'
import { UnavailableError } from '../lib/unavailable.ts'
import type { Db } from '../store/db.ts'
import { findLineBySetting } from '../store/hook-lines.ts'
import { loadDrivenLines, type DrivenLine } from '../store/lanes.ts'
import { lineAddress, openSecrets } from '../store/lines.ts'
import { asUnavailable } from './database-faults.ts'
import type { ReportRecorder } from './record-reports.ts'

export type HookOutcome =
  | { kind: 'answered'; status: number; body: string; contentType: string }
  | { kind: 'not_found' }
  | { kind: 'refused'; status: number }

export type HookCall = {
  driverName: string
  /** As in the address: `lin_…`. */
  lineName: string
  request: Omit<HookRequest, 'publicUrl'>
}

export type HookContext = {
  db: Db
  sealer: Sealer
  log: Log
  recorder: ReportRecorder
  findDriver(name: string): Driver | undefined
  /** The address under which providers reach this installation, without a trailing slash. */
  publicUrl: string
}

export type ReceiveHook = (call: HookCall) => Promise<HookOutcome>

/** Lines of companies that are long gone do not fill the memory. */
const maxOpened = 10_000

export function createReceiveHook(context: HookContext): ReceiveHook {
  const { db, log, recorder, publicUrl } = context
  const lines = createBatcher<string, DrivenLine | undefined>({
    maxBatch: 500,
    maxWaiting: 5_000,
    batchesInFlight: 2,
    async run(ids) {
      const found = await loadDrivenLines(db, [...new Set(ids)])
      const byId = new Map(found.map((line) => [line.id, line]))
      return ids.map((id) => byId.get(id))
    },
  })
  const openLine = createLineOpener(context)

  /** For another number of the same account; one that is no line here is not ours to keep. */
  async function reportElsewhere(
    { companyId, driver }: DrivenLine,
    { setting, value, reports }: { setting: string; value: string; reports: LineReport[] },
  ): Promise<void> {
    const other = await findLineBySetting(db, { companyId, driver, setting, value }).catch(
      (error: unknown) => {
        throw asUnavailable(error)
      },
    )
    if (other) await recorder.report(other, reports)
    else log.info({ driver, setting, value, reports: reports.length }, 'reports for a line that is not here')
  }

  return async ({ driverName, lineName, request }) => {
    const driver = context.findDriver(driverName)
    const lineId = parseId('lin', lineName)
    if (driver?.hook === undefined || lineId === undefined) return { kind: 'not_found' }
    const line = await lines.ask(lineId).catch((error: unknown) => {
      throw asUnavailable(error)
    })
    if (line?.driver !== driver.name) return { kind: 'not_found' }
    const opened = openLine(driver, line)
    if (opened === undefined)
      throw new UnavailableError('the line cannot take reports at the moment; repeat it', 60)
    const result = callDriver(driver, opened, { ...request, publicUrl: publicUrl + request.url }, log)
    if (!result.ok) {
      log.warn({ line: line.name, driver: driver.name, reason: result.reason }, 'a hook was refused')
      return { kind: 'refused', status: result.status }
    }
    await Promise.all([
      recorder.report(line, result.reports),
      ...(result.elsewhere ?? []).map((others) => reportElsewhere(line, others)),
    ])
    const { status, body, contentType } = { status: 200, body: '', ...result.answer }
    return { kind: 'answered', status, body, contentType: contentType ?? 'text/plain; charset=utf-8' }
  }
}

/** A fault of ours: refused, so that the provider repeats it once it is mended. */
function callDriver(driver: Driver, line: DriverLine, request: HookRequest, log: Log): HookResult {
  try {
    return driver.hook!(line, request)
  } catch (error) {
    log.error({ err: error, lineId: line.id }, 'a driver failed over a hook')
    return { ok: false, status: 500, reason: 'the driver failed' }
  }
}

/** Settings checked and secrets opened once per version of the line. Undefined when the settings are wrong. */
function createLineOpener({ sealer, log, publicUrl }: HookContext) {
  const opened = new Map<string, { version: DrivenLine['version']; line: DriverLine | undefined }>()
  return (driver: Driver, line: DrivenLine): DriverLine | undefined => {
    const known = opened.get(line.id)
    if (known?.version === line.version) return known.line
    const checked = checkSettings(driver.settings, {
      ...line.settings,
      ...openSecrets(sealer, line.secretsSealed),
    })
    if (!checked.ok)
      log.warn({ line: line.name, field: checked.field }, 'the settings of a line with a hook are wrong')
    const fresh: DriverLine | undefined = checked.ok
      ? {
          id: line.id,
          channel: line.channel,
          address: lineAddress({ ...line, email: line.email ?? undefined }),
          settings: checked.settings,
          hookUrl: `${publicUrl}/hooks/${line.driver}/${showId('lin', line.id)}`,
        }
      : undefined
    if (opened.size >= maxOpened) opened.clear()
    opened.set(line.id, { version: line.version, line: fresh })
    return fresh
  }
}
