/** What the sandbox's WhatsApp side knows: numbers, templates, open windows, and who is who. */
import { createHash, randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxLog } from '../types.ts'

export type PhoneNumber = {
  id: string
  /** E.164, with `+`. */
  number: string
  verifiedName: string
  webhookUrl?: string
  /** Messages a second before 130429; the provider's own steps are 80 and 1,000. */
  throughputPerSecond: number
}

export type TemplateStatus = 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED'
export type TemplateButton = {
  type: string
  text?: string
  url?: string
  phone_number?: string
  otp_type?: string
  example?: unknown
}
export type TemplateComponent = {
  type: string
  format?: string
  text?: string
  example?: unknown
  buttons?: TemplateButton[]
  cards?: { components: TemplateComponent[] }[]
  add_security_recommendation?: boolean
  code_expiration_minutes?: number
}
export type Template = {
  id: string
  name: string
  language: string
  category: string
  status: TemplateStatus
  components: TemplateComponent[]
  parameterFormat: 'POSITIONAL' | 'NAMED'
  rejectedReason?: string
}

/** How people are named to the business: by number, by number and business-scoped id, or by the id alone. */
export type UserIdMode = 'phone' | 'both' | 'userId'

export type GraphSettings = {
  /** Refusals the provider may tell late come as a `failed` status instead of an error. */
  lateRefusals: boolean
  userIds: UserIdMode
  /** Brazilian `wa_id`s lose their ninth digit, as those of older accounts do. */
  isNinthDigitDropped: boolean
  /** What becomes of a template that is created: approved soon, or left waiting. */
  isTemplateApproved: boolean
  pairLimit: boolean
}

export const defaultGraphSettings: GraphSettings = {
  lateRefusals: false,
  userIds: 'phone',
  isNinthDigitDropped: false,
  isTemplateApproved: true,
  pairLimit: true,
}

/** Brazilian mobiles are one person with and without the ninth digit. */
export const canonicalNumber = (digits: string): string => digits.replace(/^(55\d{2})9(\d{8})$/, '$1$2')

const pairKey = (phoneNumberId: string, digits: string) => `${phoneNumberId}|${canonicalNumber(digits)}`

export type Person = { digits: string; waId: string; userId: string }

export type GraphState = {
  settings: GraphSettings
  phones: Map<string, PhoneNumber>
  templates(): Template[]
  template(name: string, language: string): Template | undefined
  templateById(id: string): Template | undefined
  saveTemplate(template: Template): void
  removeTemplates(ids: string[]): void
  isSubscribed: boolean
  openWindow(phoneNumberId: string, digits: string, atMs: number): void
  lastInboundMs(phoneNumberId: string, digits: string): number | undefined
  person(digits: string): Person
  personByUserId(userId: string): Person | undefined
  /** False when this person got too many from this number: 45 at once, then one each 6 seconds. */
  mayWriteTo(phoneNumberId: string, digits: string, nowMs: number): boolean
  hasThroughput(phone: PhoneNumber, nowMs: number): boolean
  flush(): Promise<void>
}

const pairBurst = 45
const pairEveryMs = 6_000
const maxKept = 200_000

/** Fifteen digits, as the provider's ids look; random enough that two sandboxes do not share one. */
export const newGraphId = (): string =>
  `${randomInt(10, 99)}${String(randomInt(0, 10 ** 13)).padStart(13, '0')}`

function boundedSet<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  if (map.size >= maxKept) map.delete(map.keys().next().value!)
  map.set(key, value)
}

export function createGraphState(options: {
  phones: PhoneNumber[]
  templates: Template[]
  settings: GraphSettings
  dataDir?: string
  log: SandboxLog
}): GraphState {
  const path = options.dataDir && join(options.dataDir, 'templates.json')
  const templates = new Map<string, Template>()
  const windows = new Map<string, number>()
  const pairs = new Map<string, { tokens: number; atMs: number }>()
  const seconds = new Map<string, { second: number; used: number }>()
  const userIds = new Map<string, string>()
  let saving: Promise<void> = Promise.resolve()

  const keyOf = (template: Pick<Template, 'name' | 'language'>) => `${template.name}|${template.language}`

  if (path && existsSync(path)) {
    try {
      for (const template of JSON.parse(readFileSync(path, 'utf8')) as Template[])
        templates.set(keyOf(template), template)
    } catch (fault) {
      options.log.warn(
        { path, cause: String(fault) },
        'The sandbox templates could not be read and start empty.',
      )
    }
  }
  // What the caller gives wins over what an earlier run kept.
  for (const template of options.templates) templates.set(keyOf(template), template)

  function save(): void {
    if (!path) return
    const content = JSON.stringify([...templates.values()])
    saving = saving
      .then(() => writeFile(path, content, { mode: 0o600 }))
      .catch((fault: unknown) =>
        options.log.error({ path, cause: String(fault) }, 'The sandbox templates cannot be kept.'),
      )
  }

  function person(digits: string): Person {
    const userId = `${digits.startsWith('55') ? 'BR' : 'US'}.${createHash('sha256').update(canonicalNumber(digits)).digest('hex').slice(0, 20)}`
    boundedSet(userIds, userId, digits)
    return { digits, waId: state.settings.isNinthDigitDropped ? canonicalNumber(digits) : digits, userId }
  }

  const state: GraphState = {
    settings: options.settings,
    phones: new Map(options.phones.map((phone) => [phone.id, phone])),
    templates: () => [...templates.values()],
    template: (name, language) => templates.get(`${name}|${language}`),
    templateById: (id) => [...templates.values()].find((template) => template.id === id),
    saveTemplate(template) {
      templates.set(keyOf(template), template)
      save()
    },
    removeTemplates(ids) {
      for (const template of templates.values())
        if (ids.includes(template.id)) templates.delete(keyOf(template))
      save()
    },
    isSubscribed: true,
    openWindow: (phoneNumberId, digits, atMs) => boundedSet(windows, pairKey(phoneNumberId, digits), atMs),
    lastInboundMs: (phoneNumberId, digits) => windows.get(pairKey(phoneNumberId, digits)),
    person,
    personByUserId(userId) {
      const digits = userIds.get(userId)
      return digits === undefined ? undefined : person(digits)
    },
    mayWriteTo(phoneNumberId, digits, nowMs) {
      if (!state.settings.pairLimit) return true
      const key = pairKey(phoneNumberId, digits)
      const last = pairs.get(key) ?? { tokens: pairBurst, atMs: nowMs }
      const tokens = Math.min(pairBurst, last.tokens + (nowMs - last.atMs) / pairEveryMs)
      boundedSet(pairs, key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs })
      return tokens >= 1
    },
    hasThroughput(phone, nowMs) {
      const second = Math.floor(nowMs / 1000)
      const last = seconds.get(phone.id)
      if (last?.second !== second) {
        seconds.set(phone.id, { second, used: 1 })
        return true
      }
      last.used++
      return last.used <= phone.throughputPerSecond
    },
    flush: () => saving,
  }
  return state
}
