/** Rules of a company's file: found again by their name. */
import { nameKey } from '../domain/channel.ts'
import type { HoursOfDay, RuleKind } from '../domain/rule.ts'
import { changeRule, listRules, removeRule, saveNewRule, type RuleRecord } from '../store/rules-admin.ts'
import type { RuleInput, RuleSettingsInput } from '../store/rules.ts'
import { byKey, isSame, must, note, refuse, showChange, type ApplyContext } from './apply-context.ts'
import { weekdays, type Path, type RuleFile } from './company-file.ts'

export type Names = {
  segmentIds(names: readonly string[], path: Path): string[]
  listId(name: string, path: Path): string
}

/** Which settings belong to which kind; a rule with those of another was meant to be another. */
const settingsOfKind: Record<RuleKind, readonly (keyof RuleFile)[]> = {
  restriction_list: ['list'],
  opt_out: [],
  allowed_hours: ['timeZone', 'hours', 'holidays'],
  frequency_cap: ['limit', 'period'],
  duplicate: ['withinMinutes'],
  segment_channel: [],
  template_state: [],
}
const allSettings = Object.values(settingsOfKind).flat()

export async function applyRules(
  context: ApplyContext,
  wanted: readonly RuleFile[],
  names: Names,
): Promise<void> {
  const { transaction, company } = context
  const places = byKey('rules', wanted, (rule) => nameKey(rule.name), 'name')
  const existing = new Map<string, RuleRecord>()
  for (const rule of await listRules(transaction, company.id)) {
    const at = places.get(nameKey(rule.name))
    if (existing.has(nameKey(rule.name)) && at !== undefined)
      throw refuse(['rules', at, 'name'], 'is the name of several rules: rename all but one first')
    existing.set(nameKey(rule.name), rule)
  }
  for (const [at, rule] of wanted.entries())
    await applyRule(context, existing.get(nameKey(rule.name)), rule, names, ['rules', at])
  if (!context.isPruning) return
  for (const [key, rule] of existing) {
    if (places.has(key)) continue
    await removeRule(transaction, company.id, rule.id)
    await note(context, { action: 'remove', noun: 'rule', name: rule.name, fields: [], id: rule.id })
  }
}

async function applyRule(
  context: ApplyContext,
  current: RuleRecord | undefined,
  rule: RuleFile,
  names: Names,
  path: Path,
): Promise<void> {
  const { transaction, company } = context
  if (current !== undefined && current.kind !== rule.kind)
    throw refuse(
      [...path, 'kind'],
      `is ${current.kind} for this rule, which stays: give the new one another name`,
    )
  const foreign = allSettings.find(
    (field) => rule[field] !== undefined && !settingsOfKind[rule.kind].includes(field),
  )
  if (foreign !== undefined)
    throw refuse([...path, foreign], `is no setting of a rule of the kind ${rule.kind}`)
  const input: RuleInput = {
    name: rule.name,
    action: rule.action ?? current?.action,
    isEnabled: rule.isEnabled ?? current?.isEnabled,
    apis: rule.apis ?? current?.apis,
    channels: rule.channels ?? current?.channels,
    segmentIds: rule.segments
      ? names.segmentIds(rule.segments, [...path, 'segments'])
      : (current?.segmentIds ?? []),
    position: rule.position ?? current?.position,
    settings: settingsOf(rule, names, path),
  }
  if (current === undefined) {
    const created = must(await saveNewRule(transaction, company.id, input), path, placeOf)
    return note(context, { action: 'create', noun: 'rule', name: created.name, fields: [], id: created.id })
  }
  const { kind: _, ...settings } = input.settings
  const fields = (['name', 'action', 'isEnabled', 'apis', 'channels', 'position'] as const)
    .filter((field) => !isSame(current[field], field === 'name' ? rule.name.trim() : input[field]))
    .map((field) => showChange(field, current[field], input[field]))
  if (!isSame(current.segmentIds, input.segmentIds))
    fields.push(showChange('segments', undefined, rule.segments))
  for (const field of new Set([...Object.keys(current.settings), ...Object.keys(settings)])) {
    const [before, after] = [current.settings[field], (settings as Record<string, unknown>)[field]]
    if (!isSame(before, after))
      fields.push(field === 'listId' ? `list: ${rule.list}` : showChange(nameInFile(field), before, after))
  }
  if (fields.length === 0) return
  must(await changeRule(transaction, company.id, current.id, input), path, placeOf)
  await note(context, { action: 'change', noun: 'rule', name: rule.name, fields, id: current.id })
}

const nameInFile = (field: string): string => (field === 'weekdays' ? 'hours' : field)

/** Where the store's field stands in the file. */
function placeOf(field: string): Path {
  const bare = field.replace(/^settings\./, '')
  if (bare === 'listId') return ['list']
  if (bare === 'segmentIds') return ['segments']
  const day = /^weekdays\[(\d)\](?:\[(\d+)\])?$/.exec(bare)
  if (day) return ['hours', weekdays[Number(day[1])]!, ...(day[2] === undefined ? [] : [Number(day[2])])]
  return [nameInFile(bare)]
}

/** What is missing is filled with what fits nothing, so that the check names it. */
function settingsOf(rule: RuleFile, names: Names, path: Path): RuleSettingsInput {
  const { kind } = rule
  switch (kind) {
    case 'restriction_list':
      if (rule.list === undefined) throw refuse([...path, 'list'], 'is missing')
      return { kind, listId: names.listId(rule.list, [...path, 'list']) }
    case 'allowed_hours':
      if (rule.hours === undefined) throw refuse([...path, 'hours'], 'is missing')
      return {
        kind,
        timeZone: rule.timeZone ?? '',
        weekdays: readHours(rule.hours),
        holidays: rule.holidays ?? [],
      }
    case 'frequency_cap':
      if (rule.period === undefined) throw refuse([...path, 'period'], 'is missing')
      return { kind, limit: rule.limit ?? 0, period: rule.period }
    case 'duplicate':
      return { kind, withinMinutes: rule.withinMinutes ?? 0 }
    case 'opt_out':
    case 'segment_channel':
    case 'template_state':
      return { kind }
  }
}

type Week = [HoursOfDay[], HoursOfDay[], HoursOfDay[], HoursOfDay[], HoursOfDay[], HoursOfDay[], HoursOfDay[]]

/** A day that is not named has no hours. */
const readHours = (hours: NonNullable<RuleFile['hours']>): Week =>
  weekdays.map((day) => (hours[day] ?? []).map(readSpan)) as Week

function readSpan(text: string): HoursOfDay {
  const minute = (part: string) => Number(part.slice(0, 2)) * 60 + Number(part.slice(3))
  const [from = '', to = ''] = text.split('-')
  return { from: minute(from), to: minute(to) }
}

const showMinute = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

export const writeHours = (week: readonly HoursOfDay[][]): NonNullable<RuleFile['hours']> =>
  Object.fromEntries(
    week.flatMap((spans, at) =>
      spans.length === 0
        ? []
        : [[weekdays[at]!, spans.map(({ from, to }) => `${showMinute(from)}-${showMinute(to)}`)]],
    ),
  )
