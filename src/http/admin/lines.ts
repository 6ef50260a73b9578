/** Lines: settings by their driver's schema, secrets masked and never returned; pause, default, and a real test. */
import { Type } from 'typebox'
import { drivers, driverNames, findDriver } from '../../drivers/registry.ts'
import { checkSettings, secretSettings } from '../../drivers/settings.ts'
import type { FieldProblem } from '../../domain/saved.ts'
import { showId } from '../../lib/ids.ts'
import type { Queryable } from '../../store/db.ts'
import {
  changeLine,
  changeLineSettings,
  createLine,
  getLine,
  lineAddress,
  listLines,
  makeDefaultLine,
  pauseLine,
  readLineSettings,
  type LineRecord,
} from '../../store/lines.ts'
import { isLineInUse, removeLine } from '../../store/removals.ts'
import { listSegments } from '../../store/segments.ts'
import { readVersion } from '../../store/versions.ts'
import { changed, conflict, done, invalid, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import { given } from './users.ts'
import {
  channel,
  checkVersion,
  flag,
  idOf,
  listOf,
  nullable,
  oneOf,
  optionalText,
  pageOut,
  text,
  uuidOf,
  whole,
} from './wire.ts'

const limits = {
  ratePerSecond: Type.Optional(
    Type.Number({ description: 'Messages per second.', minimum: 0.001, maximum: 100_000 }),
  ),
  inFlightLimit: Type.Optional(whole('Messages under way at once.', 1, 10_000)),
  segmentIds: Type.Optional(listOf(idOf('seg', 'A segment.'), 'Segments that it serves; none: all.')),
  failoverLineIds: Type.Optional(
    listOf(idOf('lin', 'A line.'), 'Where messages go when this line cannot send, in order.', 50),
  ),
  isProspect: flag('May be drawn for prospects.'),
  isEnabled: flag('Off: it is as if it were not there.'),
}

const LineOut = Type.Object({
  id: idOf('lin', 'The line.'),
  name: Type.String(),
  channel: channel(),
  countryCode: nullable(Type.Integer()),
  phoneNumber: nullable(Type.Integer()),
  email: nullable(Type.String()),
  driver: Type.String(),
  settings: Type.Object({}, { description: 'Without secrets.' }),
  secrets: Type.Array(Type.String(), { description: 'Names of the secrets that are set.' }),
  isDefault: Type.Boolean(),
  isPaused: Type.Boolean(),
  pausedReason: nullable(Type.String()),
  hookPath: Type.String({ description: 'Where the provider reports to, below the public address.' }),
  hookUrl: nullable(Type.String({ description: 'The same in full; null when the driver has no reports.' })),
  ...limits,
})

const secretNamesOf = (driver: string): string[] => {
  const found = findDriver(driver)
  return found ? secretSettings(found.settings) : []
}

function show(line: LineRecord, secrets: string[], publicUrl: string) {
  const hookPath = `/hooks/${line.driver}/${showId('lin', line.id)}`
  const hidden = secretNamesOf(line.driver)
  return {
    id: showId('lin', line.id),
    name: line.name,
    channel: line.channel,
    countryCode: line.countryCode ?? null,
    phoneNumber: line.phoneNumber ?? null,
    email: line.email ?? null,
    driver: line.driver,
    // Secrets are sealed apart; should one ever stand among the plain settings, it does not get out either.
    settings: Object.fromEntries(Object.entries(line.settings).filter(([name]) => !hidden.includes(name))),
    secrets,
    isDefault: line.isDefault,
    isProspect: line.isProspect,
    isEnabled: line.isEnabled,
    isPaused: line.isPaused,
    pausedReason: line.pausedReason,
    ratePerSecond: line.ratePerSecond,
    inFlightLimit: line.inFlightLimit,
    segmentIds: line.segmentIds.map((id) => showId('seg', id)),
    failoverLineIds: line.failoverLineIds.map((id) => showId('lin', id)),
    hookPath,
    hookUrl: findDriver(line.driver)?.hook ? publicUrl + hookPath : null,
  }
}

type ShowContext = {
  db: Queryable
  companyId: string
  deps: { sealer: Parameters<typeof readLineSettings>[1]; publicUrl: string }
}

async function showWithSecrets({ db, companyId, deps }: ShowContext, line: LineRecord) {
  const settings = await readLineSettings(db, deps.sealer, companyId, line.id)
  const set = secretNamesOf(line.driver).filter((name) => settings?.[name] !== undefined)
  return show(line, set, deps.publicUrl)
}

/** Segments and lines that are named must be the company's own. */
async function checkNames(
  db: Queryable,
  companyId: string,
  { segmentIds = [], failoverLineIds = [] }: { segmentIds?: string[]; failoverLineIds?: string[] },
  self: { id?: string; channel: string },
): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  if (segmentIds.length > 0) {
    const own = new Set((await listSegments(db, companyId)).map(({ id }) => showId('seg', id)))
    if (segmentIds.some((id) => !own.has(id)))
      problems.push({ field: 'segmentIds', message: 'names a segment that does not exist' })
  }
  if (failoverLineIds.length > 0) {
    const own = new Set(
      (await listLines(db, companyId))
        .filter((line) => line.channel === self.channel && line.id !== self.id)
        .map(({ id }) => showId('lin', id)),
    )
    if (failoverLineIds.some((id) => !own.has(id)))
      problems.push({ field: 'failoverLineIds', message: 'must name other lines of the same channel' })
  }
  return problems
}

const withUuids = <T extends { segmentIds?: string[]; failoverLineIds?: string[] }>(body: T) => ({
  ...body,
  segmentIds: body.segmentIds?.map((id) => uuidOf('seg', id)),
  failoverLineIds: body.failoverLineIds?.map((id) => uuidOf('lin', id)),
})

const settingsOf = (json: Record<string, unknown>): Record<string, unknown> | undefined => {
  const { settings = {} } = json
  return typeof settings === 'object' && settings !== null && !Array.isArray(settings)
    ? (settings as Record<string, unknown>)
    : undefined
}

const noObject = invalid({ field: 'settings', message: 'must be an object' })

const listRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/drivers',
    summary: 'List drivers with the schema of their settings',
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          name: Type.String(),
          title: Type.String(),
          channel: channel(),
          settings: Type.Object(
            {},
            { description: 'A JSON schema; `isSecret` marks what is never returned.' },
          ),
          hasHook: Type.Boolean({ description: 'The provider reports to `hookPath` of the line.' }),
        }),
      ),
    }),
    async handle() {
      return done({
        items: drivers.map((driver) => ({
          name: driver.name,
          title: driver.title,
          channel: driver.channel,
          settings: driver.settings,
          hasHook: driver.hook !== undefined,
        })),
      })
    },
  }),
  read({
    method: 'GET',
    path: '/lines',
    summary: 'List lines',
    query: Type.Object({
      ...smallListQuery(['channel', 'name', 'createdAt']),
      channel: Type.Optional(channel('Only of this channel.')),
    }),
    answer: pageOut(LineOut),
    async handle({ deps, db, companyId, query }) {
      const all = await listLines(db, companyId)
      return done(
        smallPage(query.channel ? all.filter((line) => line.channel === query.channel) : all, query, {
          sorts: {
            channel: (line) => `${line.channel} ${line.name.toLowerCase()}`,
            name: ({ name }) => name.toLowerCase(),
            createdAt: ({ id }) => id,
          },
          words: (line) => [line.name, lineAddress(line)],
          // Which secrets are set is said of one line, not of a list: each would have to be opened.
          show: (line) => show(line, [], deps.publicUrl),
        }),
      )
    },
  }),
  read({
    method: 'GET',
    path: '/lines/:id',
    ids: ['lin'],
    summary: 'Read a line',
    answer: LineOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const line = await getLine(db, companyId, id)
      return line
        ? done(await showWithSecrets(call, line), await readVersion(db, 'line', companyId, id))
        : notFound
    },
  }),
]

const changeRoutes: Route[] = [
  change({
    method: 'POST',
    path: '/lines',
    noun: 'line',
    action: 'create',
    summary: 'Create a line',
    description: 'The first line of a channel becomes its default.',
    body: Type.Object({
      name: text('Its name.'),
      driver: oneOf(driverNames, 'What talks to the provider.'),
      countryCode: Type.Optional(whole('Of an SMS or WhatsApp line.', 1, 9999)),
      phoneNumber: Type.Optional(
        whole('Of an SMS or WhatsApp line, with area code.', 1, 999_999_999_999_999),
      ),
      email: optionalText('Of an e-mail line.'),
      ...limits,
    }),
    answer: LineOut,
    status: 201,
    async handle(call) {
      const { deps, db, companyId, body, json } = call
      const driver = findDriver(body.driver)!
      const settings = settingsOf(json)
      if (settings === undefined) return noObject
      const reading = checkSettings(driver.settings, settings)
      const problems = await checkNames(db, companyId, body, driver)
      if (!reading.ok) problems.push({ field: settingPath(reading.field), message: reading.reason })
      if (problems.length > 0 || !reading.ok) return invalid(...problems)
      const isFirst = (await listLines(db, companyId)).every((line) => line.channel !== driver.channel)
      const result = await createLine(
        db,
        deps.sealer,
        companyId,
        { ...withUuids(body), channel: driver.channel, settings: reading.settings, isDefault: isFirst },
        secretSettings(driver.settings),
      )
      if (!result.ok) return unlessSaved(result)!
      const { id, name } = result.value
      return changed(
        await showWithSecrets(call, result.value),
        { nounId: showId('lin', id), detail: { name, driver: body.driver } },
        { version: await readVersion(db, 'line', companyId, id) },
      )
    },
  }),
  change({
    method: 'PATCH',
    path: '/lines/:id',
    ids: ['lin'],
    noun: 'line',
    action: 'change',
    summary: 'Change a line',
    description:
      'With `settings`, the plain ones are replaced; a secret that is not given keeps its value, null removes it. A number or address never changes: that is another line.',
    body: Type.Object({ name: optionalText('Its name.'), ...limits }),
    answer: LineOut,
    async handle(call) {
      const {
        deps,
        db,
        companyId,
        ids: [id = ''],
        body,
        json,
      } = call
      const stale = await checkVersion(call, 'line', id)
      if (stale) return stale
      const line = (await getLine(db, companyId, id))!
      const problems = await checkNames(db, companyId, body, line)
      if (problems.length > 0) return invalid(...problems)
      const result = await changeLine(db, companyId, id, withUuids(body))
      if (!result?.ok) return unlessSaved(result)!
      if (json['settings'] !== undefined) {
        const refused = await saveSettings(deps.sealer, db, companyId, line, settingsOf(json))
        if (refused) return refused
      }
      return changed(
        await showWithSecrets(call, (await getLine(db, companyId, id))!),
        {
          nounId: showId('lin', id),
          // Names of settings, not their values: some are secret.
          detail: {
            ...given(body),
            ...(json['settings'] !== undefined && { settings: Object.keys(settingsOf(json) ?? {}) }),
          },
        },
        { version: await readVersion(db, 'line', companyId, id) },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/lines/:id',
    ids: ['lin'],
    noun: 'line',
    action: 'remove',
    summary: 'Remove a line',
    description: 'Refused once it has carried messages: disable it then.',
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const stale = await checkVersion(call, 'line', id)
      if (stale) return stale
      if (await isLineInUse(db, companyId, id)) return conflict('it has carried messages; disable it instead')
      const line = await getLine(db, companyId, id)
      await removeLine(db, companyId, id)
      return changed(undefined, { nounId: showId('lin', id), detail: { name: line?.name } })
    },
  }),
  change({
    method: 'POST',
    path: '/lines/:id/pause',
    ids: ['lin'],
    noun: 'line',
    action: 'pause',
    summary: 'Pause a line',
    description: 'Its messages wait.',
    body: Type.Object({ reason: optionalText('For the others.') }),
    answer: LineOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
        actor,
        now,
      } = call
      const reason = body.reason ?? `paused by ${actor}`
      const line = await pauseLine(db, companyId, id, { at: now, reason })
      if (line === undefined) return notFound
      return changed(await showWithSecrets(call, line), { nounId: showId('lin', id), detail: { reason } })
    },
  }),
  change({
    method: 'POST',
    path: '/lines/:id/resume',
    ids: ['lin'],
    noun: 'line',
    action: 'resume',
    summary: 'Resume a line',
    answer: LineOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const line = await pauseLine(db, companyId, id, null)
      if (line === undefined) return notFound
      return changed(await showWithSecrets(call, line), { nounId: showId('lin', id) })
    },
  }),
  change({
    method: 'POST',
    path: '/lines/:id/default',
    ids: ['lin'],
    noun: 'line',
    action: 'make_default',
    summary: 'Make a line the default of its channel',
    answer: LineOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const line = await makeDefaultLine(db, companyId, id)
      if (line === undefined) return notFound
      return changed(await showWithSecrets(call, line), { nounId: showId('lin', id) })
    },
  }),
]

const settingPath = (field: string): string => (field === '' ? 'settings' : `settings.${field}`)

/** Checked as the driver will see them: what is given over the secrets that stay. */
async function saveSettings(
  sealer: Parameters<typeof readLineSettings>[1],
  db: Queryable,
  companyId: string,
  line: LineRecord,
  given: Record<string, unknown> | undefined,
) {
  const driver = findDriver(line.driver)
  if (given === undefined) return noObject
  if (driver === undefined) return conflict(`there is no driver named ${line.driver}`)
  const secretNames = secretSettings(driver.settings)
  const stored = (await readLineSettings(db, sealer, companyId, line.id)) ?? {}
  const kept = Object.fromEntries(Object.entries(stored).filter(([name]) => secretNames.includes(name)))
  const whole = Object.fromEntries(
    Object.entries({ ...kept, ...given }).filter(([, value]) => value !== null && value !== ''),
  )
  const reading = checkSettings(driver.settings, whole)
  if (!reading.ok) return invalid({ field: settingPath(reading.field), message: reading.reason })
  const removed = Object.fromEntries(
    secretNames.filter((name) => given[name] === null).map((name) => [name, null]),
  )
  await changeLineSettings(db, sealer, companyId, line.id, { ...reading.settings, ...removed }, secretNames)
  return undefined
}

export const lineRoutes: Route[] = [...listRoutes, ...changeRoutes]
