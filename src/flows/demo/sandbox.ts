/** The demo's sandbox: started beside the worker, with the demo company's lines pointing at it. */
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { phoneKey } from '../../domain/address.ts'
import { toProviderTemplate } from '../../domain/provider-template.ts'
import { findDriver } from '../../drivers/registry.ts'
import { secretSettings } from '../../drivers/settings.ts'
import type { Clock } from '../../lib/clock.ts'
import { showId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Sealer } from '../../lib/secrets.ts'
import { readTemplate } from '../../sandbox/graph/template-rules.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { openAttendance } from '../../store/attendances.ts'
import { readCallbackSecret } from '../../store/companies.ts'
import { findContactByPhone, openWindow } from '../../store/contacts.ts'
import type { Db } from '../../store/db.ts'
import { changeLineSettings, lineAddress, listLines, pauseLine, type LineRecord } from '../../store/lines.ts'
import { listTemplates } from '../../store/templates.ts'
import { addressesOf, type AddressFacts } from '../addresses.ts'
import { publishCatcher } from './catcher.ts'
import { digitsOf, untilSandboxRuns } from './create.ts'
import { readQuickstart, withAddresses, writeQuickstart, type Quickstart } from './quickstart.ts'

export type DemoSandboxOptions = {
  db: Db
  sealer: Sealer
  clock: Clock
  log: Log
  config: AddressFacts & { dataDir: string; sandboxPort: number }
}

type Demo = { companyId: string; attendantId: string; quickstart: Quickstart }

/**
 * Undefined where there is no demo to serve: the company is gone, or its quickstart file is in the data folder of
 * another node, whose sandbox the lines then lead to.
 */
export async function startDemoSandbox(options: DemoSandboxOptions): Promise<Sandbox | undefined> {
  const { db, config } = options
  const demo = await findDemo(db, config.dataDir)
  if (demo === undefined) return undefined
  const lines = await listLines(db, demo.companyId)
  const sandbox = await openSandbox(options, demo, lines)
  try {
    await publishPeers(db, sandbox)
    await publishCatcher(db, sandbox.catcher.url)
    await pointLines(options, demo, lines, sandbox)
    await refreshContacts(options, demo, lines, sandbox)
    const addresses = { ...addressesOf(config), sandbox: sandbox.url }
    await writeQuickstart(config.dataDir, withAddresses(demo.quickstart, addresses))
    return sandbox
  } catch (error) {
    await sandbox.stop()
    throw error
  }
}

/** Peers that the outbound guard lets lines reach although they are on loopback. */
async function publishPeers(db: Db, { smtp, smpp, graph }: Sandbox): Promise<void> {
  const peers = [`${smtp.host}:${smtp.port}`, `${smpp.host}:${smpp.port}`, new URL(graph.baseUrl).host]
  await db.query(
    `insert into setting (key, value) values ('demo_sandbox', $1)
      on conflict (key) do update set value = excluded.value`,
    [JSON.stringify(peers)],
  )
}

/**
 * The peers of the demo's sandbox, as `host:port`, whichever node runs it. When several nodes start together on an
 * empty database, this waits a while for the one that does: without them the guard would refuse the demo's lines.
 */
export async function findDemoPeers(db: Db, patienceMs = 15_000): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const rows = await db.query<{ key: string; value: unknown }>(
      "select key, value from setting where key in ('demo', 'demo_sandbox')",
    )
    const published = rows.find(({ key }) => key === 'demo_sandbox')
    if (published) return published.value as string[]
    if (rows.length === 0 || performance.now() > giveUpAt) return []
    await wait(100)
  }
}

async function findDemo(db: Db, dataDir: string): Promise<Demo | undefined> {
  const quickstart = await readQuickstart(dataDir)
  const [row] = await db.query<{ companyId: string; attendantId: string }>(
    `select c.id as "companyId", s.value->>'attendantId' as "attendantId"
      from setting s join company c on c.id::text = s.value->>'companyId' where s.key = 'demo'`,
  )
  return quickstart && row && { ...row, quickstart }
}

/** The provider's id of a number, the same at every start. */
const phoneNumberId = (line: LineRecord) => lineAddress(line)

async function openSandbox(
  { db, sealer, clock, log, config }: DemoSandboxOptions,
  demo: Demo,
  lines: readonly LineRecord[],
): Promise<Sandbox> {
  const { unified: main, console: door } = addressesOf(config)
  // The way that leads here without leaving the machine, whatever address the world knows.
  const local = addressesOf({ ...config, publicUrl: undefined }).unified
  const templates = await listTemplates(db, demo.companyId, 'whatsapp')
  const callbackSecret = await readCallbackSecret(db, sealer, demo.companyId)
  return startSandbox({
    dataDir: join(config.dataDir, 'sandbox'),
    ports: config.sandboxPort ? { http: config.sandboxPort } : {},
    allowedOrigins: [main, door, local],
    allowedHosts: [new URL(local).host],
    callbackSecrets: callbackSecret === undefined ? undefined : [callbackSecret],
    graph: {
      phoneNumbers: lines
        .filter((line) => line.channel === 'whatsapp')
        .map((line) => ({
          id: phoneNumberId(line),
          number: `+${lineAddress(line)}`,
          verifiedName: line.name,
          webhookUrl: `${local}/hooks/whatsapp-cloud/${showId('lin', line.id)}`,
        })),
      templates: templates.map(toProviderTemplate).filter((template) => isTaken(template, log)),
    },
    log,
    clock,
  })
}

/** One template that a provider would not take costs its own sends, and not the start of everything. */
function isTaken(template: ReturnType<typeof toProviderTemplate>, log: Log): boolean {
  const reading = readTemplate(template, 'APPROVED')
  if ('id' in reading) return true
  log.warn({ template: template.name, reason: reading.details }, 'the sandbox does not take a template')
  return false
}

/** Ports may be others than last time, so every start writes them. */
async function pointLines(
  { db, sealer }: DemoSandboxOptions,
  demo: Demo,
  lines: readonly LineRecord[],
  sandbox: Sandbox,
): Promise<void> {
  for (const line of lines) {
    // A line that somebody has given another driver leads elsewhere, and is left alone.
    const settings = settingsFor(line, sandbox)
    const driver = findDriver(line.driver)
    if (settings && driver)
      await changeLineSettings(db, sealer, demo.companyId, line.id, settings, secretSettings(driver.settings))
    if (line.pausedReason === untilSandboxRuns) await pauseLine(db, demo.companyId, line.id, null)
  }
}

function settingsFor(line: LineRecord, { smtp, smpp, graph }: Sandbox): Record<string, unknown> | undefined {
  switch (line.driver) {
    case 'smtp':
      return {
        host: smtp.host,
        port: smtp.port,
        security: 'starttls',
        canBeUnverified: true,
        username: smtp.user,
        password: smtp.password,
        fromName: 'Pombo Demo',
        // The sandbox is where its mail is read: what it takes has arrived.
        hasMailboxes: true,
      }
    case 'smpp':
      return { host: smpp.host, port: smpp.port, systemId: smpp.systemId, password: smpp.password }
    case 'whatsapp-cloud':
      return {
        baseUrl: graph.baseUrl,
        phoneNumberId: phoneNumberId(line),
        wabaId: graph.wabaId,
        accessToken: graph.accessToken,
        appSecret: graph.appSecret,
        verifyToken: graph.verifyToken,
      }
  }
  return undefined
}

/** What the quickstart file promises of its two contacts holds after every start. */
async function refreshContacts(
  { db, clock }: DemoSandboxOptions,
  { companyId, attendantId, quickstart }: Demo,
  lines: readonly LineRecord[],
  sandbox: Sandbox,
): Promise<void> {
  const find = (digits: string) => findContactByPhone(db, companyId, phoneKey(digits))
  const digits = digitsOf(quickstart.contacts.windowOpen)
  const writer = await find(digits)
  for (const line of lines)
    if (writer && line.channel === 'whatsapp') {
      await openWindow(db, writer.id, line.id, clock.now())
      sandbox.openWindow(phoneNumberId(line), digits)
    }
  const attended = await find(digitsOf(quickstart.contacts.inAttendance))
  if (attended)
    await openAttendance(db, companyId, { contactId: attended.id, userId: attendantId, at: clock.now() })
}
