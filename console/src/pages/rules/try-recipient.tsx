/** "Try a recipient": what every rule would say, without sending anything. */
import { Alert, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck, IconClock } from '@tabler/icons-react'
import { useState } from 'react'
import type { AnswerOf, ItemOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import type { Channel } from '../../components/state-badge.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { Rule } from './in-words.ts'

const words = text.rules
type Answer = AnswerOf<'POST /rules/try'>
type Verdict = Answer['verdicts'][number]

export function TryRecipient() {
  const [answer, setAnswer] = useState<Answer>()
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Panel title={words.tabs.try}>
        <TryForm onAnswer={setAnswer} />
      </Panel>
      {answer && <Result answer={answer} />}
    </SimpleGrid>
  )
}

type TryValues = {
  channel: Channel
  recipient: string
  api: 'unified' | 'direct'
  segmentId: string
  templateCode: string
  variables: Record<string, string>
  documentNumber: string
  contractCode: string
}

const nothingYet: TryValues = {
  channel: 'sms',
  recipient: '',
  api: 'unified',
  segmentId: '',
  templateCode: '',
  variables: {},
  documentNumber: '',
  contractCode: '',
}

function TryForm({ onAnswer }: { onAnswer(answer: Answer): void }) {
  const form = useApiForm('POST /rules/try', {
    initial: nothingYet,
    call: ({ variables, segmentId, templateCode, ...values }) => ({
      body: {
        ...values,
        ...(segmentId !== '' && { segmentId }),
        ...(templateCode !== '' && { templateCode, variables }),
      },
    }),
    success: words.tried,
    onSuccess: onAnswer,
  })
  const { values } = form
  const segments = useApiQuery('/segments', { query: { limit: 200, sort: 'name' } })
  const templates = useApiQuery('/templates', {
    query: { channel: values.channel, limit: 200, sort: 'name' },
  })
  const chosen = templates.data?.items.find(({ code }) => code === values.templateCode)
  return (
    <FormFrame form={form} submitLabel={words.try}>
      <Text size="sm">{words.tryLead}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
        <Select
          label={words.channel}
          data={(['whatsapp', 'sms', 'email'] as const).map((value) => ({
            value,
            label: text.common.channels[value],
          }))}
          {...form.field('channel')}
          onChange={(channel) => form.set({ channel: channel ?? 'sms', templateCode: '' })}
        />
        <Select
          label={words.api}
          data={(['unified', 'direct'] as const).map((value) => ({ value, label: text.common.apis[value] }))}
          {...form.field('api')}
        />
      </SimpleGrid>
      <TextInput
        label={words.recipient}
        description={words.recipientHint}
        required
        {...form.field('recipient')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="sm">
        <Select
          label={words.segment}
          searchable
          data={[
            { value: '', label: words.noSegment },
            ...(segments.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          {...form.field('segmentId')}
        />
        <Select
          label={words.template}
          searchable
          data={[
            { value: '', label: words.freeText },
            ...(templates.data?.items ?? []).map(({ code, name }) => ({ value: code, label: name })),
          ]}
          {...form.field('templateCode')}
        />
        {chosen &&
          variablesOf(chosen).map((name) => (
            <TextInput
              key={name}
              label={words.variable(name)}
              value={values.variables[name] ?? ''}
              onChange={(event) =>
                form.set({ variables: { ...values.variables, [name]: event.currentTarget.value } })
              }
              error={form.errorOf(`variables.${name}`)}
            />
          ))}
        <TextInput
          label={words.documentNumber}
          description={words.lookedUp}
          {...form.field('documentNumber')}
        />
        <TextInput label={words.contractCode} description={words.lookedUp} {...form.field('contractCode')} />
      </SimpleGrid>
    </FormFrame>
  )
}

function variablesOf({ content }: ItemOf<'GET /templates'>): string[] {
  const { variables } = content as { variables?: unknown }
  return Array.isArray(variables) ? variables.filter((name) => typeof name === 'string') : []
}

function Result({ answer }: { answer: Answer }) {
  const rules = useApiQuery('/rules', { query: { limit: 200, sort: 'position' } })
  const { verdicts } = answer
  const until = verdicts
    .flatMap(({ action, nextAllowedAt }) => (action === 'defer' && nextAllowedAt ? nextAllowedAt : []))
    .toSorted()
    .at(-1)
  return (
    <Panel title={words.resultTitle}>
      <Stack gap="md" aria-live="polite">
        <Outcome answer={answer} until={until} />
        <DataTable
          label={words.verdicts}
          columns={columnsOf(rules.data?.items ?? [])}
          query={{
            data: { items: verdicts },
            error: null,
            isPlaceholderData: false,
            refetch: () => undefined,
          }}
          rowKey={(verdict) => verdict.ruleId ?? verdict.rule}
          empty={<EmptyState title={words.noVerdicts} />}
        />
      </Stack>
    </Panel>
  )
}

function Outcome({ answer, until }: { answer: Answer; until: string | undefined }) {
  if (answer.outcome === 'accepted' && until !== undefined)
    return (
      <Alert color="yellow" icon={<IconClock aria-hidden />} role="status">
        {words.results.deferred} <Instant at={until} as="short" />.
      </Alert>
    )
  if (answer.outcome === 'accepted')
    return (
      <Alert color="green" icon={<IconCircleCheck aria-hidden />} role="status">
        {words.results.accepted}
      </Alert>
    )
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="status">
      {answer.outcome === 'not_sent' ? words.results.not_sent : words.results.refused}
    </Alert>
  )
}

const columnsOf = (rules: readonly Rule[]): Column<Verdict>[] => [
  {
    header: words.rule,
    cell: (verdict) => <RuleCell verdict={verdict} rule={rules.find(({ id }) => id === verdict.ruleId)} />,
    isTitle: true,
  },
  { header: words.verdict, cell: (verdict) => <VerdictTag verdict={verdict} /> },
  { header: words.reason, cell: (verdict) => <Reason verdict={verdict} /> },
]

function RuleCell({ verdict, rule }: { verdict: Verdict; rule: Rule | undefined }) {
  const kind = text.verdicts[verdict.rule].name
  const listId = rule?.kind === 'restriction_list' ? rule.settings?.listId : undefined
  return (
    <div>
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {rule ? rule.name : kind}
      </Text>
      <Text size="xs" c="dimmed" fw={400}>
        {rule ? kind : words.builtIn}
      </Text>
      {listId && (
        <AppLink to="/restriction-lists/$id" params={{ id: listId }} size="xs">
          {words.openList}
        </AppLink>
      )}
    </div>
  )
}

function VerdictTag({ verdict: { passed, action } }: { verdict: Verdict }) {
  if (passed) return <Tag tone="good">{words.passes}</Tag>
  return action === 'defer' ? <Tag tone="warn">{words.waits}</Tag> : <Tag tone="bad">{words.refuses_}</Tag>
}

const capital = (given: string): string => given.charAt(0).toUpperCase() + given.slice(1)

function Reason({ verdict }: { verdict: Verdict }) {
  const { passed, failed, advice } = text.verdicts[verdict.rule]
  if (verdict.passed) return passed
  return (
    <div>
      <Text size="sm">{verdict.reason ? `${capital(verdict.reason)}.` : failed}</Text>
      {verdict.matched && (
        <Text size="xs" c="dimmed">
          {words.matched(verdict.matched)}
        </Text>
      )}
      {verdict.nextAllowedAt && (
        <Text size="xs" c="dimmed">
          {words.notBefore} <Instant at={verdict.nextAllowedAt} as="short" />
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {advice}
      </Text>
    </div>
  )
}
