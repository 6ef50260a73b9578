/** Templates at their provider, when a person asks for it: handing one in for approval, and reading what was decided. */
import { toProviderTemplate } from '../domain/provider-template.ts'
import type { Template } from '../domain/template.ts'
import type { Driver, LineSession } from '../drivers/driver.ts'
import { checkSettings } from '../drivers/settings.ts'
import type { Clock } from '../lib/clock.ts'
import { showId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Outbound } from '../lib/outbound/index.ts'
import type { Sealer } from '../lib/secrets.ts'
import type { Db } from '../store/db.ts'
import { lineAddress, listLines, readLineSettings, type LineRecord } from '../store/lines.ts'
import { recordApprovals, syncTemplates } from './sync-templates.ts'

export type ProviderTemplatesContext = {
  db: Db
  sealer: Sealer
  clock: Clock
  log: Log
  outbound: Outbound
  findDriver(name: string): Driver | undefined
  publicUrl: string
}

/** `no_line`: none leads to a provider that keeps templates. */
export type Submitted = { ok: true; accounts: number } | { ok: false; reason: 'no_line' | Refusal }
export type Refreshed = { ok: true; known: number } | { ok: false; reason: 'no_line' | Refusal }
/** The provider's words, and over which line they came. */
export type Refusal = { lineName: string; message: string }

export type ProviderTemplates = {
  submit(companyId: string, template: Template): Promise<Submitted>
  refresh(companyId: string): Promise<Refreshed>
}

type Opened = { line: LineRecord; session: LineSession }

export function createProviderTemplates(context: ProviderTemplatesContext): ProviderTemplates {
  const { db, log } = context

  /** Each account once: its templates are the same over all its numbers. */
  async function withAccounts<T>(companyId: string, work: (accounts: Opened[]) => Promise<T>): Promise<T> {
    const lines = (await listLines(db, companyId)).filter(
      ({ channel, isEnabled }) => channel === 'whatsapp' && isEnabled,
    )
    const opened: Opened[] = []
    try {
      const byAccount = new Map<string, Opened>()
      for (const line of lines.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault))) {
        const session = await openLine(context, companyId, line)
        if (session === undefined) continue
        opened.push({ line, session })
        const account = session.templateAccount
        if (session.submitTemplate && account !== undefined && !byAccount.has(account))
          byAccount.set(account, { line, session })
      }
      return await work([...byAccount.values()])
    } finally {
      for (const { session } of opened) await session.close()
    }
  }

  return {
    submit: (companyId, template) =>
      withAccounts(companyId, async (accounts): Promise<Submitted> => {
        if (accounts.length === 0) return { ok: false, reason: 'no_line' }
        for (const { line, session } of accounts) {
          const result = await session.submitTemplate!(toProviderTemplate(template))
          if (!result.ok) return { ok: false, reason: { lineName: line.name, message: result.error.message } }
          await recordApprovals({ db }, [{ companyId, report: result.report }])
        }
        return { ok: true, accounts: accounts.length }
      }),
    refresh: (companyId) =>
      withAccounts(companyId, async (accounts): Promise<Refreshed> => {
        if (accounts.length === 0) return { ok: false, reason: 'no_line' }
        let known = 0
        for (const { line, session } of accounts) {
          try {
            known += (await syncTemplates({ db, log }, { id: line.id, companyId }, session))?.known ?? 0
          } catch (error) {
            const message = error instanceof Error ? error.message : String(error)
            return { ok: false, reason: { lineName: line.name, message } }
          }
        }
        return { ok: true, known }
      }),
  }
}

/** Undefined when the line's settings are not whole. Sessions of WhatsApp providers connect only when they are used. */
async function openLine(
  { db, sealer, clock, log, outbound, findDriver, publicUrl }: ProviderTemplatesContext,
  companyId: string,
  line: LineRecord,
): Promise<LineSession | undefined> {
  const driver = findDriver(line.driver)
  const checked =
    driver && checkSettings(driver.settings, await readLineSettings(db, sealer, companyId, line.id))
  if (!driver || !checked?.ok) return undefined
  return driver.open(
    {
      id: line.id,
      channel: line.channel,
      address: lineAddress(line),
      settings: checked.settings,
      hookUrl: `${publicUrl}/hooks/${line.driver}/${showId('lin', line.id)}`,
    },
    {
      clock,
      log: log.child({ line: line.name }),
      report: async () => undefined,
      fetch: (url, request) => outbound.fetch('brokers', url, request),
      connect: (target) => outbound.connect('brokers', target),
    },
  )
}
