/** Rules of a company, as kept; senders read them through the catalogue, which adds a restriction list's name. */
import type { Api, Channel } from '../domain/channel.ts'
import type { RuleSettings } from '../domain/rule.ts'
import { newId } from '../lib/ids.ts'
import type { Queryable } from './db.ts'

/** What a caller gives: the settings of one kind, without what the store itself adds. */
export type RuleSettingsInput = RuleSettings extends infer S
  ? S extends RuleSettings
    ? Omit<S, 'listName'>
    : never
  : never

export type RuleInput = {
  name: string
  action?: 'block' | 'defer'
  apis?: Api[]
  channels?: Channel[]
  segmentIds?: string[]
  isEnabled?: boolean
  position?: number
  settings: RuleSettingsInput
}

export async function createRule(db: Queryable, companyId: string, input: RuleInput): Promise<string> {
  const id = newId()
  const { kind, ...settings } = input.settings
  await db.query(
    `insert into rule (id, company_id, kind, name, action, is_enabled, apis, channels, segment_ids, settings, position)
      values ($1, $2, $3, $4, $5, $6, coalesce($7::text[], '{unified,direct}'), coalesce($8::text[], '{email,sms,whatsapp}'), $9, $10, $11)`,
    [
      id,
      companyId,
      kind,
      input.name.trim(),
      input.action ?? 'block',
      input.isEnabled ?? true,
      input.apis,
      input.channels,
      input.segmentIds ?? [],
      JSON.stringify(settings),
      input.position ?? 0,
    ],
  )
  return id
}
