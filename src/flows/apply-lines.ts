/** Lines of a company's file: found again by channel and address. */
import { nameKey } from '../domain/channel.ts'
import { findDriver, driverNames } from '../drivers/registry.ts'
import { checkSettings, secretSettings } from '../drivers/settings.ts'
import {
  changeLine,
  changeLineDriver,
  changeLineSettings,
  clearDefaultLine,
  createLine,
  lineAddress,
  listLines,
  makeDefaultLine,
  readLineSettings,
  splitSecrets,
  type LineRecord,
  type LineSettings,
} from '../store/lines.ts'
import { isLineInUse, removeLine } from '../store/removals.ts'
import {
  byKey,
  differences,
  isSame,
  must,
  named,
  note,
  refuse,
  showChange,
  type ApplyContext,
} from './apply-context.ts'
import type { LineFile, Path } from './company-file.ts'

const keyOf = (line: Pick<LineFile, 'channel' | 'countryCode' | 'phoneNumber' | 'email'>): string =>
  `${line.channel} ${lineAddress(line).trim().toLowerCase()}`

export async function applyLines(
  context: ApplyContext,
  wanted: readonly LineFile[],
  segmentIds: (names: readonly string[], path: Path) => string[],
): Promise<void> {
  const { transaction, company } = context
  const places = byKey('lines', wanted, keyOf)
  checkDefaults(wanted)
  const existing = new Map((await listLines(transaction, company.id)).map((line) => [keyOf(line), line]))
  // A mark is taken away before it is given to another: the database allows one per channel at every moment.
  for (const [at, line] of wanted.entries()) {
    const current = existing.get(keyOf(line))
    if (current?.isDefault && line.isDefault === false)
      await clearDefaultLine(transaction, company.id, current.id)
    checkDriver(line, ['lines', at])
  }
  const ids: string[] = []
  for (const [at, line] of wanted.entries()) {
    const path: Path = ['lines', at]
    const segments = line.segments && segmentIds(line.segments, [...path, 'segments'])
    const current = existing.get(keyOf(line))
    ids.push(
      current === undefined
        ? await create(context, line, segments, path)
        : await update(context, current, line, segments, path),
    )
  }
  await applyFailover(context, wanted, ids)
  if (!context.isPruning) return
  for (const [key, line] of existing) if (!places.has(key)) await prune(context, line)
}

function checkDefaults(wanted: readonly LineFile[]): void {
  const defaults = new Map<string, number>()
  for (const [at, line] of wanted.entries()) {
    if (!line.isDefault) continue
    const earlier = defaults.get(line.channel)
    if (earlier !== undefined)
      throw refuse(
        ['lines', at, 'isDefault'],
        `is true for lines[${earlier}] already: a channel has one default line`,
      )
    defaults.set(line.channel, at)
  }
}

function checkDriver(line: LineFile, path: Path): void {
  const driver = findDriver(line.driver)
  if (driver === undefined) throw refuse([...path, 'driver'], `must be one of ${driverNames.join(', ')}`)
  if (driver.channel !== line.channel) throw refuse([...path, 'driver'], `is not for ${line.channel}`)
}

/** The settings with defaults, as they are stored. */
function readSettings(line: LineFile, given: LineSettings, path: Path): LineSettings {
  const reading = checkSettings(findDriver(line.driver)!.settings, given)
  if (!reading.ok)
    throw refuse(
      [...path, 'settings', ...(reading.field === '' ? [] : reading.field.split('.'))],
      reading.reason,
    )
  return reading.settings
}

async function create(
  context: ApplyContext,
  line: LineFile,
  segmentIds: string[] | undefined,
  path: Path,
): Promise<string> {
  const { transaction, company, sealer } = context
  const secretNames = secretSettings(findDriver(line.driver)!.settings)
  const input = {
    ...line,
    isDefault: false,
    segmentIds,
    settings: readSettings(line, line.settings ?? {}, path),
  }
  const created = must(await createLine(transaction, sealer, company.id, input, secretNames), path)
  if (line.isDefault) await makeDefaultLine(transaction, company.id, created.id)
  await note(context, { action: 'create', noun: 'line', name: line.name, fields: [], id: created.id })
  return created.id
}

async function update(
  context: ApplyContext,
  current: LineRecord,
  line: LineFile,
  segmentIds: string[] | undefined,
  path: Path,
): Promise<string> {
  const { transaction, company } = context
  const { id } = current
  const { name, isDefault, isProspect, isEnabled, ratePerSecond, inFlightLimit } = line
  const plain = { name: name.trim(), isProspect, isEnabled, ratePerSecond, inFlightLimit, segmentIds }
  const changed = differences<typeof plain>(current, plain)
  const fields = changed.map((field) =>
    field === 'segmentIds'
      ? showChange('segments', current.segmentIds.length, line.segments)
      : showChange(field, current[field as keyof LineRecord], plain[field]),
  )
  if (changed.length > 0) must(await changeLine(transaction, company.id, id, plain), path)
  if (isDefault !== undefined && isDefault !== current.isDefault) {
    fields.push(showChange('isDefault', current.isDefault, isDefault))
    if (isDefault) await makeDefaultLine(transaction, company.id, id)
  }
  fields.push(...(await updateSettings(context, current, line, path)))
  if (fields.length > 0) await note(context, { action: 'change', noun: 'line', name: line.name, fields, id })
  return id
}

/** Secrets that the file does not hold stay as they are; those it holds are compared with the stored ones. */
async function updateSettings(
  context: ApplyContext,
  current: LineRecord,
  line: LineFile,
  path: Path,
): Promise<string[]> {
  const { transaction, company, sealer } = context
  const isOther = line.driver !== current.driver
  if (line.settings === undefined) {
    if (isOther) throw refuse([...path, 'settings'], 'must be given when the driver changes')
    return []
  }
  const schema = findDriver(line.driver)!.settings
  const secretNames = secretSettings(schema)
  const stored = (await readLineSettings(transaction, sealer, company.id, current.id)) ?? {}
  const { plain: storedPlain, secret: storedSecret } = splitSecrets(stored, secretNames)
  const kept = isOther ? {} : storedSecret
  // Exactly what is stored is no change, even where a newer driver would ask for more.
  if (!isOther && isSame({ ...kept, ...line.settings }, stored)) return []
  const settings = readSettings(line, { ...kept, ...line.settings }, path)
  const { plain, secret } = splitSecrets(settings, secretNames)
  const before = checkSettings(schema, stored)
  const plainBefore = before.ok ? splitSecrets(before.settings, secretNames).plain : storedPlain
  const fields = isOther ? [showChange('driver', current.driver, line.driver)] : []
  for (const name of new Set([...Object.keys(plainBefore), ...Object.keys(plain)]))
    if (!isOther && !isSame(plainBefore[name], plain[name]))
      fields.push(showChange(`settings.${name}`, plainBefore[name], plain[name]))
  for (const name of Object.keys(secret))
    if (!isSame(kept[name], secret[name])) fields.push(`settings.${name} (secret)`)
  if (fields.length === 0) return []
  if (isOther) await changeLineDriver(transaction, company.id, current.id, line.driver)
  await changeLineSettings(transaction, sealer, company.id, current.id, settings, secretNames)
  return fields
}

/** By name, and after all lines are there: a line may fail over to one that stands below it. */
async function applyFailover(
  context: ApplyContext,
  wanted: readonly LineFile[],
  ids: readonly string[],
): Promise<void> {
  const { transaction, company } = context
  if (wanted.every((line) => line.failover === undefined)) return
  const all = await listLines(transaction, company.id)
  const byName = named(all)
  for (const [at, line] of wanted.entries()) {
    if (line.failover === undefined) continue
    const failoverLineIds = line.failover.map((name, index) => {
      const path: Path = ['lines', at, 'failover', index]
      const other = byName.get(nameKey(name))
      if (other === undefined) throw refuse(path, `names no line: there is no "${name}"`)
      if (all.filter((one) => nameKey(one.name) === nameKey(name)).length > 1)
        throw refuse(path, `is not clear: several lines are called "${name}"`)
      if (other.id === ids[at]) throw refuse(path, 'names the line itself')
      if (other.channel !== line.channel) throw refuse(path, `names a line of ${other.channel}`)
      return other.id
    })
    const current = all.find(({ id }) => id === ids[at])!
    if (isSame(current.failoverLineIds, failoverLineIds)) continue
    must(await changeLine(transaction, company.id, current.id, { failoverLineIds }), [
      'lines',
      at,
      'failover',
    ])
    const fields = [`failover: ${line.failover.join(', ') || 'none'}`]
    await note(context, { action: 'change', noun: 'line', name: line.name, fields, id: current.id })
  }
}

/** A line that messages went through stays, switched off: its receipts still come, and the log names it. */
async function prune(context: ApplyContext, line: LineRecord): Promise<void> {
  const { transaction, company } = context
  const facts = { noun: 'line', name: line.name, fields: [], id: line.id } as const
  if (!(await isLineInUse(transaction, company.id, line.id))) {
    await removeLine(transaction, company.id, line.id)
    return note(context, { action: 'remove', ...facts, fields: [] })
  }
  if (!line.isEnabled) return
  must(await changeLine(transaction, company.id, line.id, { isEnabled: false }), ['lines'])
  await note(context, { action: 'disable', ...facts, fields: [] })
}
