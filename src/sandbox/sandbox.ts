/** Starts the three providers, the inbox and its page. Everything listens on loopback; nothing is sent on. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { takeFileLock } from '../lib/file-lock.ts'
import { startApi } from './api.ts'
import { createCatcher } from './catcher.ts'
import { createChaos } from './chaos.ts'
import type { ChaosSettings } from './chaos.ts'
import { loadFacts } from './credentials.ts'
import type { PortName } from './credentials.ts'
import { startGraph } from './graph/server.ts'
import { defaultGraphSettings, newGraphId } from './graph/state.ts'
import type { GraphSettings, Template, TemplateStatus } from './graph/state.ts'
import { readTemplate } from './graph/template-rules.ts'
import type { JsonObject } from './graph/wire.ts'
import { openInbox } from './inbox.ts'
import type { Inbox } from './inbox.ts'
import { isLoopback } from './listen.ts'
import { createPersonActs } from './person.ts'
import type { PersonActs } from './person.ts'
import { defaultSmscSettings, startSmsc } from './smsc/server.ts'
import type { SmppAccount, SmscSettings } from './smsc/server.ts'
import { startSmtp } from './smtp.ts'
import type { SmtpAccount } from './smtp.ts'
import type { SandboxLog } from './types.ts'

/** `number` is E.164; the id is made when not given. */
export type PhoneNumberInput = {
  id?: string
  number: string
  verifiedName?: string
  webhookUrl?: string
  throughputPerSecond?: number
}

/** A template as the provider's API takes it (name, language, category, components, parameter_format). */
export type TemplateInput = JsonObject & { id?: string; status?: TemplateStatus }

export type SandboxOptions = {
  host?: string
  /** Fixed ports; the others are free ones, the same as last time when they can be had. */
  ports?: Partial<Record<PortName, number>>
  /** Keeps credentials, inbox, templates and media. Without it nothing survives the process. */
  dataDir?: string
  seed?: number
  chaos?: Partial<Omit<ChaosSettings, 'seed'>>
  smtp?: { accounts?: SmtpAccount[]; maxBytes?: number }
  smpp?: { accounts?: SmppAccount[]; settings?: Partial<SmscSettings>; assemblyMs?: number; retryMs?: number }
  graph?: {
    accessToken?: string
    appSecret?: string
    verifyToken?: string
    wabaId?: string
    phoneNumbers?: PhoneNumberInput[]
    templates?: TemplateInput[]
    webhookUrl?: string
    webhookRetryMs?: number
    approvalMs?: number
    settings?: Partial<GraphSettings>
  }
  /** Secrets (`whsec_…`) of the callbacks that the catcher verifies. */
  callbackSecrets?: string[]
  /** `host:port` outside loopback that webhooks and one-click unsubscribes may go to. */
  allowedHosts?: string[]
  /** Origins (`http://localhost:8080`) whose pages may use the HTTP API, besides its own. */
  allowedOrigins?: string[]
  inbox?: { maxMessages?: number; maxBytes?: number }
  log: SandboxLog
  clock: Clock
}

export type SandboxChange = {
  webhookUrl?: string
  phoneNumbers?: PhoneNumberInput[]
  templates?: TemplateInput[]
  callbackSecrets?: string[]
}

export type Sandbox = {
  url: string
  smtp: { host: string; port: number; user: string; password: string; ca: string; accounts: SmtpAccount[] }
  smpp: { host: string; port: number; systemId: string; password: string; accounts: SmppAccount[] }
  graph: {
    baseUrl: string
    phoneNumbers: { id: string; number: string; verifiedName: string; webhookUrl?: string }[]
    wabaId: string
    accessToken: string
    appSecret: string
    verifyToken: string
  }
  /** POST callbacks to `url` or to `url/<any name>`. */
  catcher: { url: string; secret: string }
  inbox: Inbox
  person: PersonActs
  /** Adds or changes numbers, templates and addresses while it runs. Throws on a template the provider would refuse. */
  configure(change: SandboxChange): void
  /** As if the person had written to this number just now, without a message. */
  openWindow(phoneNumberId: string, number: string): void
  setChaos(change: unknown): void
  stop(): Promise<void>
}

function toTemplate(input: TemplateInput): Template {
  const template = readTemplate(input, input.status ?? 'APPROVED')
  if ('refusal' in template) throw new Error(`Template ${String(input.name)}: ${template.details}`)
  return { ...template, id: input.id ?? template.id }
}

const toPhone = (input: PhoneNumberInput) => ({
  id: input.id ?? newGraphId(),
  number: `+${input.number.replaceAll(/\D/g, '')}`,
  verifiedName: input.verifiedName ?? 'Pombo sandbox',
  webhookUrl: input.webhookUrl,
  throughputPerSecond: input.throughputPerSecond ?? 1_000,
})

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', dataDir, log, clock } = options
  if (!isLoopback(host))
    throw new Error(`The sandbox listens on loopback only (127.0.0.1, ::1, localhost), not on ${host}.`)
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const stops: (() => void | Promise<void>)[] = []
  // Reverse order, each once, also when a later part fails to start.
  const stop = async () => {
    for (const stopOne of stops.splice(0).toReversed()) await stopOne()
  }
  if (dataDir !== undefined) {
    // Two sandboxes that append to one inbox file would each lose what the other writes.
    const lock = takeFileLock(join(dataDir, 'sandbox.lock'))
    if (!lock)
      throw new Error(`Another sandbox uses the folder ${dataDir}. Stop it, or give this one another folder.`)
    stops.push(() => lock.release())
  }
  const kept = loadFacts(dataDir, clock.now())
  const { facts } = kept

  const isAllowed = (address: string): boolean => {
    const url = URL.parse(address)
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false
    return isLoopback(url.hostname) || (options.allowedHosts ?? []).includes(url.host)
  }
  const place = (name: PortName) => ({
    host,
    port: options.ports?.[name] ?? facts.ports[name] ?? 0,
    isPortFixed: Boolean(options.ports?.[name]),
  })

  try {
    const inbox = await openInbox({ ...options.inbox, dataDir, clock, log })
    stops.push(() => inbox.close())
    const chaos = createChaos(options.seed ?? 1)
    const setChaos = (change: unknown) => {
      const done = chaos.set(change)
      if (!done.ok) throw new Error(`${done.field} ${done.message}`)
    }
    if (options.chaos) setChaos(options.chaos)
    const shared = { inbox, chaos, clock, log }

    const smtpAccounts = options.smtp?.accounts ?? [facts.smtp]
    const smtp = await startSmtp({
      ...place('smtp'),
      ...shared,
      accounts: smtpAccounts,
      certificate: facts.certificate,
      maxBytes: options.smtp?.maxBytes,
    })
    stops.push(() => smtp.stop())

    const graphFacts = {
      accessToken: options.graph?.accessToken ?? facts.graph.accessToken,
      appSecret: options.graph?.appSecret ?? facts.graph.appSecret,
      verifyToken: options.graph?.verifyToken ?? facts.graph.verifyToken,
      wabaId: options.graph?.wabaId ?? facts.graph.wabaId,
    }
    const phoneInputs = options.graph?.phoneNumbers ?? [
      { id: facts.graph.phoneNumberId, number: '+15550100001' },
    ]
    const graph = await startGraph({
      ...place('graph'),
      ...shared,
      ...graphFacts,
      dataDir,
      phones: phoneInputs.map(toPhone),
      templates: (options.graph?.templates ?? []).map(toTemplate),
      settings: { ...defaultGraphSettings, ...options.graph?.settings },
      webhookUrl: options.graph?.webhookUrl,
      webhookRetryMs: options.graph?.webhookRetryMs,
      approvalMs: options.graph?.approvalMs,
      isAllowed,
    })
    stops.push(() => graph.stop())

    const smppAccounts = options.smpp?.accounts ?? [facts.smpp]
    const smsc = await startSmsc({
      ...place('smpp'),
      ...shared,
      accounts: smppAccounts,
      settings: { ...defaultSmscSettings, ...options.smpp?.settings },
      assemblyMs: options.smpp?.assemblyMs,
      retryMs: options.smpp?.retryMs,
    })
    stops.push(() => smsc.stop())

    const callbackSecrets = options.callbackSecrets ?? [facts.callbackSecret]
    const catcher = createCatcher({ secrets: callbackSecrets, clock })
    const person = createPersonActs({ inbox, smtp, smsc, graph, clock, isAllowed })
    const api = await startApi({
      ...place('http'),
      ...shared,
      smtp,
      smsc,
      graph,
      catcher,
      person,
      allowedOrigins: options.allowedOrigins ?? [],
    })
    stops.push(() => api.stop())

    facts.ports = { http: api.port, smtp: smtp.port, smpp: smsc.port, graph: graph.port }
    kept.save()
    const showHost = host.includes(':') ? `[${host}]` : host
    const url = `http://${showHost}:${api.port}`
    log.info(
      { url, smtpPort: smtp.port, smppPort: smsc.port, graphPort: graph.port },
      'The sandbox is ready.',
    )

    return {
      url,
      smtp: {
        host,
        port: smtp.port,
        ...smtpAccounts[0]!,
        ca: facts.certificate.cert,
        accounts: smtpAccounts,
      },
      smpp: { host, port: smsc.port, ...smppAccounts[0]!, accounts: smppAccounts },
      graph: {
        ...graphFacts,
        baseUrl: graph.baseUrl,
        get phoneNumbers() {
          return [...graph.state.phones.values()].map(({ id, number, verifiedName, webhookUrl }) => ({
            id,
            number,
            verifiedName,
            webhookUrl,
          }))
        },
      },
      catcher: { url: `${url}/catch`, secret: callbackSecrets[0] ?? '' },
      inbox,
      person,
      configure(change) {
        const templates = (change.templates ?? []).map(toTemplate)
        for (const template of templates) graph.state.saveTemplate(template)
        for (const input of change.phoneNumbers ?? []) {
          const known = input.id === undefined ? undefined : graph.state.phones.get(input.id)
          const phone = toPhone({ ...known, ...input })
          graph.state.phones.set(phone.id, phone)
        }
        if (change.webhookUrl !== undefined) graph.setWebhookUrl(change.webhookUrl)
        if (change.callbackSecrets) catcher.setSecrets(change.callbackSecrets)
      },
      openWindow: (phoneNumberId, number) =>
        graph.state.openWindow(phoneNumberId, number.replaceAll(/\D/g, ''), clock.now().getTime()),
      setChaos,
      stop,
    }
  } catch (fault) {
    await stop()
    throw fault
  }
}
