/** Rules, and trying a recipient against them. */
import { Type, type Static } from 'typebox'
import { apis } from '../../domain/channel.ts'
import { ruleKinds, type HoursOfDay } from '../../domain/rule.ts'
import { showId } from '../../lib/ids.ts'
import {
  changeRule,
  getRule,
  listRules,
  orderRules,
  removeRule,
  saveNewRule,
  type RuleRecord,
} from '../../store/rules-admin.ts'
import type { RuleInput, RuleSettingsInput } from '../../store/rules.ts'
import { getSegment } from '../../store/segments.ts'
import { readVersion } from '../../store/versions.ts'
import { VerdictOut } from './messages.ts'
import { changed, conflict, done, invalid, notFound, unlessSaved } from './replies.ts'
import { change, read, type Route } from './route.ts'
import { readRecipient, refusalOf, requestOf } from './sending.ts'
import { smallListQuery, smallPage } from './small-lists.ts'
import {
  api,
  channel,
  checkVersion,
  flag,
  idOf,
  listOf,
  maybeUuid,
  oneOf,
  optionalText,
  pageOut,
  text,
  uuidOf,
  whole,
} from './wire.ts'

const Settings = Type.Object(
  {
    listId: Type.Optional(idOf('lst', 'Of a rule of the kind restriction_list.')),
    timeZone: Type.Optional(
      Type.String({
        description: "Of allowed_hours; empty: the company's.",
        maxLength: 100,
        'x-empty-is-value': true,
      }),
    ),
    weekdays: Type.Optional(
      Type.Array(
        Type.Array(
          Type.Object({
            from: whole('Minute of the day, included.', 0, 1440),
            to: whole('Minute of the day, not included.', 0, 1440),
          }),
          { maxItems: 24 },
        ),
        { description: 'Of allowed_hours: Monday first, each day its spans.', maxItems: 7 },
      ),
    ),
    holidays: Type.Optional(listOf(text('A date.', 10), 'Of allowed_hours: days on which nothing leaves.')),
    limit: Type.Optional(whole('Of frequency_cap.', 1, 1_000_000)),
    period: Type.Optional(oneOf(['hour', 'day', 'week', 'month'], 'Of frequency_cap.')),
    withinMinutes: Type.Optional(whole('Of duplicate.', 1, 43_200)),
  },
  { description: 'Depends on the kind.' },
)

const rule = {
  name: text('Its name.'),
  action: Type.Optional(
    oneOf(['block', 'defer'], 'Refuse, or let it wait for the first moment it may leave.'),
  ),
  apis: Type.Optional(listOf(api(), 'Narrowed to these APIs.', 2)),
  channels: Type.Optional(listOf(channel(), 'Narrowed to these channels.', 3)),
  segmentIds: Type.Optional(listOf(idOf('seg', 'A segment.'), 'Narrowed to these segments; none: all.')),
  isEnabled: flag('Off: not looked at.'),
  position: Type.Optional(whole('The order of reasons.', 0, 1_000_000)),
  settings: Type.Optional(Settings),
}

const RuleOut = Type.Object({
  id: idOf('rul', 'The rule.'),
  kind: oneOf(ruleKinds, 'What it looks at.'),
  ...rule,
})

const show = (record: RuleRecord) => ({
  ...record,
  id: showId('rul', record.id),
  segmentIds: record.segmentIds.map((id) => showId('seg', id)),
  settings:
    typeof record.settings['listId'] === 'string'
      ? { ...record.settings, listId: showId('lst', record.settings['listId']) }
      : record.settings,
})

/** What is missing is filled with what fits nothing, so that the check names it. */
function settingsOf(kind: RuleRecord['kind'], given: Static<typeof Settings> = {}): RuleSettingsInput {
  switch (kind) {
    case 'restriction_list':
      return { kind, listId: given.listId === undefined ? noList : uuidOf('lst', given.listId) }
    case 'allowed_hours':
      return {
        kind,
        timeZone: given.timeZone ?? '',
        weekdays: (given.weekdays ?? []) as [
          HoursOfDay[],
          HoursOfDay[],
          HoursOfDay[],
          HoursOfDay[],
          HoursOfDay[],
          HoursOfDay[],
          HoursOfDay[],
        ],
        holidays: given.holidays ?? [],
      }
    case 'frequency_cap':
      return { kind, limit: given.limit ?? 0, period: given.period ?? 'day' }
    case 'duplicate':
      return { kind, withinMinutes: given.withinMinutes ?? 0 }
    case 'opt_out':
    case 'segment_channel':
    case 'template_state':
      return { kind }
  }
}

const noList = '00000000-0000-0000-0000-000000000000'

const Body = Type.Object(rule)

const inputOf = (kind: RuleRecord['kind'], body: Static<typeof Body>): RuleInput => ({
  ...body,
  segmentIds: body.segmentIds?.map((id) => uuidOf('seg', id)),
  settings: settingsOf(kind, body.settings),
})

const ruleChanges: Route[] = [
  change({
    method: 'POST',
    path: '/rules',
    noun: 'rule',
    action: 'create',
    summary: 'Create a rule',
    body: Type.Object({ kind: oneOf(ruleKinds, 'What it looks at.'), ...rule }),
    answer: RuleOut,
    status: 201,
    async handle({ db, companyId, body: { kind, ...body } }) {
      const result = await saveNewRule(db, companyId, inputOf(kind, body))
      if (!result.ok) return unlessSaved(result)!
      const { id, name } = result.value
      return changed(
        show(result.value),
        { nounId: showId('rul', id), detail: { kind, name } },
        { version: await readVersion(db, 'rule', companyId, id) },
      )
    },
  }),
  change({
    method: 'PUT',
    path: '/rules/:id',
    ids: ['rul'],
    noun: 'rule',
    action: 'change',
    summary: 'Replace a rule',
    description: 'All but its kind.',
    body: Body,
    answer: RuleOut,
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
        body,
      } = call
      const stale = await checkVersion(call, 'rule', id)
      if (stale) return stale
      const { kind } = (await getRule(db, companyId, id))!
      const result = await changeRule(db, companyId, id, inputOf(kind, body))
      if (!result?.ok) return unlessSaved(result)!
      return changed(
        show(result.value),
        {
          nounId: showId('rul', id),
          detail: { kind, name: result.value.name, isEnabled: result.value.isEnabled },
        },
        { version: await readVersion(db, 'rule', companyId, id) },
      )
    },
  }),
  change({
    method: 'DELETE',
    path: '/rules/:id',
    ids: ['rul'],
    noun: 'rule',
    action: 'remove',
    summary: 'Remove a rule',
    async handle(call) {
      const {
        db,
        companyId,
        ids: [id = ''],
      } = call
      const stale = await checkVersion(call, 'rule', id)
      if (stale) return stale
      const record = await getRule(db, companyId, id)
      await removeRule(db, companyId, id)
      return changed(undefined, {
        nounId: showId('rul', id),
        detail: { kind: record?.kind, name: record?.name },
      })
    },
  }),
]

const orderRoute: Route = change({
  method: 'PUT',
  path: '/rules/order',
  noun: 'rule',
  action: 'order',
  summary: 'Put the rules in order',
  description: 'Those not named follow in the order they had.',
  body: Type.Object({
    ruleIds: listOf(idOf('rul', 'A rule.'), 'First the one whose reason is told first.', 10_000),
  }),
  answer: Type.Object({ ruleIds: Type.Array(Type.String()) }),
  async handle({ db, companyId, body }) {
    const ids = await orderRules(
      db,
      companyId,
      body.ruleIds.map((id) => uuidOf('rul', id)),
    )
    if (ids === undefined)
      return invalid({ field: 'ruleIds', message: 'names a rule that does not exist, or one twice' })
    const ruleIds = ids.map((id) => showId('rul', id))
    return changed({ ruleIds }, { detail: { ruleIds: ruleIds.slice(0, 100) } })
  },
})

const tryRoute: Route = read({
  method: 'POST',
  path: '/rules/try',
  summary: 'Try a recipient against the rules',
  description: 'Nothing is stored, sent or counted; every rule that was looked at is in the answer.',
  body: Type.Object({
    api: Type.Optional(oneOf(apis, 'As which API; unified unless told otherwise.')),
    channel: channel(),
    recipient: text('Number with country code, or e-mail address.'),
    documentNumber: optionalText('Looked up on restriction lists.'),
    contractCode: optionalText('Looked up on restriction lists.'),
    segmentId: Type.Optional(idOf('seg', 'As a message of this segment.')),
    templateCode: optionalText('With this template; else free text.'),
    variables: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4096 }))),
  }),
  answer: Type.Object({
    outcome: Type.String({ description: '`accepted`, `not_sent` or `refused`.' }),
    verdicts: Type.Array(VerdictOut),
  }),
  async handle({ deps, db, companyId, body, caller, request }) {
    const reading = readRecipient(body.channel, body.recipient)
    if (!reading.ok) return invalid({ field: 'recipient', message: reading.reason })
    const segmentId = maybeUuid('seg', body.segmentId)
    const segment = segmentId && (await getSegment(db, companyId, segmentId))
    if (segmentId !== undefined && !segment)
      return invalid({ field: 'segmentId', message: 'is no segment of this company' })
    const outcome = await deps.accept({
      sender: { kind: 'console_user', id: caller.kind === 'user' ? caller.userId : caller.keyId, companyId },
      requestId: request.id,
      isDryRun: true,
      request: {
        ...requestOf({
          channel: body.channel,
          recipient: reading.recipient,
          line: { kind: 'default', mayFailOver: true },
          subject: body.channel === 'email' ? 'Trial' : undefined,
          segmentName: segment ? segment.name : undefined,
          documentNumber: body.documentNumber,
          contractCode: body.contractCode,
          what:
            body.templateCode === undefined
              ? { kind: 'text', text: 'Trial', files: [] }
              : {
                  kind: 'template',
                  by: 'code',
                  name: body.templateCode,
                  variables: Object.entries(body.variables ?? {}).map(([name, value]) => ({ name, value })),
                  files: [],
                },
        }),
        api: body.api ?? 'unified',
      },
    })
    if (outcome.kind === 'accepted' || outcome.kind === 'not_sent' || outcome.kind === 'refused')
      return done({
        outcome: outcome.kind,
        verdicts: outcome.verdicts.map((verdict) => ({
          ...verdict,
          ...(verdict.ruleId && { ruleId: showId('rul', verdict.ruleId) }),
        })),
      })
    return (
      refusalOf(outcome, (at) =>
        at === 'template'
          ? 'templateCode'
          : at.startsWith('variables')
            ? at
            : at === 'line'
              ? 'channel'
              : 'body',
      ) ?? conflict('it could not be tried')
    )
  },
})

export const ruleRoutes: Route[] = [
  read({
    method: 'GET',
    path: '/rules',
    summary: 'List rules',
    query: Type.Object({
      ...smallListQuery(['position', 'name']),
      kind: Type.Optional(oneOf(ruleKinds, 'Only of this kind.')),
    }),
    answer: pageOut(RuleOut),
    async handle({ db, companyId, query }) {
      const all = await listRules(db, companyId)
      return done(
        smallPage(query.kind ? all.filter(({ kind }) => kind === query.kind) : all, query, {
          sorts: {
            position: ({ position }) => String(position).padStart(8, '0'),
            name: ({ name }) => name.toLowerCase(),
          },
          words: ({ name, kind }) => [name, kind],
          show,
        }),
      )
    },
  }),
  tryRoute,
  read({
    method: 'GET',
    path: '/rules/:id',
    ids: ['rul'],
    summary: 'Read a rule',
    answer: RuleOut,
    async handle({ db, companyId, ids: [id = ''] }) {
      const record = await getRule(db, companyId, id)
      return record ? done(show(record), await readVersion(db, 'rule', companyId, id)) : notFound
    },
  }),
  orderRoute,
  ...ruleChanges,
]
