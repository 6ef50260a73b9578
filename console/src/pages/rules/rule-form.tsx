/** Creating and changing a rule: what every kind has, and what its own kind asks for. */
import { Checkbox, Group, MultiSelect, Radio, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { AnswerOf, BodyOf } from '../../api.ts'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { deferringKinds, type Kind } from './in-words.ts'
import { KindFields, settingsFor, usualSettings, type KindSettings } from './kind-fields.tsx'

const words = text.rules
const kinds = Object.keys(words.kinds) as Kind[]
const alsoStale = ['restriction-lists']

type CommonValues = {
  name: string
  action: 'block' | 'defer'
  apis: string[]
  channels: string[]
  segmentIds: string[]
  isEnabled: boolean
  settings: KindSettings
}

const everything: CommonValues = {
  name: '',
  action: 'block',
  apis: ['unified', 'direct'],
  channels: ['email', 'sms', 'whatsapp'],
  segmentIds: [],
  isEnabled: true,
  settings: usualSettings,
}

function bodyOf(kind: Kind, values: CommonValues): BodyOf<'PUT /rules/:id'> {
  const { settings, action, ...rest } = values
  return {
    ...(rest as Omit<BodyOf<'PUT /rules/:id'>, 'settings' | 'action'>),
    action: deferringKinds.includes(kind) ? action : 'block',
    settings: settingsFor(kind, settings),
  }
}

export function CreateRuleForm({ listId, onDone }: { listId?: string; onDone(): void }) {
  // The last place is after all that are there; numbers between them do not matter.
  const rules = useApiQuery('/rules', { query: { limit: 200 } })
  const last = Math.max(-1, ...(rules.data?.items ?? []).map(({ position }) => position ?? 0))
  const initial: CommonValues & { kind: Kind } = {
    ...everything,
    kind: 'restriction_list',
    settings: { ...usualSettings, listId: listId ?? '' },
  }
  const form = useApiForm('POST /rules', {
    initial,
    call: ({ kind, ...values }) => ({ body: { kind, ...bodyOf(kind, values), position: last + 1 } }),
    success: words.created,
    alsoStale,
    onSuccess: onDone,
  })
  const { kind } = form.values
  return (
    <FormFrame form={form} submitLabel={text.common.create} onCancel={onDone}>
      <Select
        label={words.kind}
        description={words.kindHints[kind]}
        required
        data-autofocus
        data={kinds.map((value) => ({ value, label: words.kinds[value] }))}
        {...form.field('kind')}
      />
      <RuleFields kind={kind} values={form.values} set={form.set} errorOf={form.errorOf} />
    </FormFrame>
  )
}

export function RuleEditor({ id, onDone }: { id: string; onDone(): void }) {
  const { data, version, error, refetch } = useApiQuery('/rules/:id', { path: { id } })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return <ChangeRuleForm rule={data} version={version} onDone={onDone} />
}

type ChangeProps = { rule: AnswerOf<'GET /rules/:id'>; version: string | undefined; onDone(): void }

function ChangeRuleForm({ rule, version, onDone }: ChangeProps) {
  const { kind } = rule
  const initial: CommonValues = {
    name: rule.name,
    action: rule.action ?? 'block',
    apis: rule.apis ?? [],
    channels: rule.channels ?? [],
    segmentIds: rule.segmentIds ?? [],
    isEnabled: rule.isEnabled ?? true,
    settings: { ...usualSettings, ...given(rule.settings ?? {}) },
  }
  const form = useApiForm('PUT /rules/:id', {
    initial,
    call: (values) => ({
      path: { id: rule.id },
      body: { ...bodyOf(kind, values), position: rule.position },
      version,
    }),
    success: words.changed,
    alsoStale,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} onCancel={onDone}>
      <Text size="sm">
        <strong>{words.kinds[kind]}.</strong> {words.kindHints[kind]}
      </Text>
      <RuleFields kind={kind} values={form.values} set={form.set} errorOf={form.errorOf} />
    </FormFrame>
  )
}

const given = (settings: object): object =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null && value !== undefined))

type RuleFieldsProps = {
  kind: Kind
  values: CommonValues
  set(changes: Partial<CommonValues>): void
  errorOf(path: string): string | undefined
}

function RuleFields({ kind, values, set, errorOf }: RuleFieldsProps) {
  return (
    <>
      <TextInput
        label={words.name}
        description={words.nameHint}
        required
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={errorOf('name')}
      />
      <KindFields
        kind={kind}
        settings={values.settings}
        onChange={(changes) => set({ settings: { ...values.settings, ...changes } })}
        errorOf={(path) => errorOf(`settings.${path}`)}
      />
      {deferringKinds.includes(kind) ? (
        <Radio.Group
          label={words.action}
          value={values.action}
          onChange={(action) => set({ action })}
          error={errorOf('action')}
        >
          <Stack gap={6} mt={4}>
            <Radio value="block" label={words.actionBlock} />
            <Radio value="defer" label={words.actionDefer} />
          </Stack>
        </Radio.Group>
      ) : (
        <Text size="sm" c="dimmed">
          {words.actionOnlyBlock}
        </Text>
      )}
      <ScopeFields kind={kind} values={values} set={set} errorOf={errorOf} />
      <Switch
        label={words.enabled}
        checked={values.isEnabled}
        onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
      />
    </>
  )
}

function ScopeFields({ kind, values, set, errorOf }: RuleFieldsProps) {
  const segments = useApiQuery('/segments', { query: { limit: 200, sort: 'name' } })
  return (
    <>
      <Checkbox.Group
        label={words.channels}
        value={values.channels}
        onChange={(channels) => set({ channels })}
        error={errorOf('channels')}
      >
        <Group gap="md" mt={4}>
          {(['whatsapp', 'sms', 'email'] as const).map((channel) => (
            <Checkbox key={channel} value={channel} label={text.common.channels[channel]} />
          ))}
        </Group>
      </Checkbox.Group>
      <Checkbox.Group
        label={words.apis}
        value={values.apis}
        onChange={(apis) => set({ apis })}
        error={errorOf('apis')}
      >
        <Group gap="md" mt={4}>
          {(['unified', 'direct'] as const).map((api) => (
            <Checkbox key={api} value={api} label={text.common.apis[api]} />
          ))}
        </Group>
      </Checkbox.Group>
      <MultiSelect
        label={words.segments}
        description={kind === 'segment_channel' ? words.segmentsNeeded : words.segmentsHint}
        required={kind === 'segment_channel'}
        searchable
        data={(segments.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={values.segmentIds}
        onChange={(segmentIds) => set({ segmentIds })}
        error={errorOf('segmentIds')}
      />
    </>
  )
}
