/** Callbacks that were caught, with the verdict on their signature, and what the catcher answers. */
import { Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { IconWebhook } from '@tabler/icons-react'
import type { AnswerOf } from '../../api.ts'
import { CopyText } from '../../components/copy-text.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { Instant } from '../../components/instant.tsx'
import { ExchangeView } from '../../components/json-view.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag, type Tone } from '../../components/tag.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import classes from './sandbox.module.css'

const words = text.sandbox.catcher
type Caught = AnswerOf<'GET /sandbox/callbacks'>['callbacks'][number]

const tones: Record<Caught['verdict'], Tone> = {
  valid: 'good',
  invalid: 'bad',
  stale: 'warn',
  unsigned: 'neutral',
}

export function Catcher({ url }: { url: string }) {
  const { data, error, refetch } = useApiQuery('/sandbox/callbacks')
  const clear = useApiMutation('DELETE /sandbox/callbacks', { success: words.cleared })
  if (error && data === undefined) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  const { callbacks } = data
  return (
    <Stack gap="md">
      <Panel>
        <Group justify="space-between" align="flex-start" gap="md">
          <div>
            <Text size="sm">{words.lead}</Text>
            <CopyText value={url} />
          </div>
          <AnswerForm />
          <Button
            variant="default"
            disabled={callbacks.length === 0}
            loading={clear.isPending}
            onClick={() => clear.mutate({})}
          >
            {words.clear}
          </Button>
        </Group>
      </Panel>
      {callbacks.length === 0 ? (
        <EmptyState icon={IconWebhook} title={words.none} hint={words.noneHint} />
      ) : (
        <div className={classes['caught']}>
          {callbacks.map((callback) => (
            <Callback key={callback.sequence} callback={callback} />
          ))}
        </div>
      )}
    </Stack>
  )
}

function AnswerForm() {
  const form = useApiForm('PUT /sandbox/callbacks', {
    initial: { name: '', status: 200 },
    call: (values) => ({ body: values }),
    success: ({ status }) => words.answerSet(status),
  })
  return (
    <FormFrame form={form} isReadOnly>
      <Group gap="xs" align="flex-end">
        <TextInput label={words.answerName} {...form.field('name')} w={200} />
        <NumberInput
          label={words.answerWith}
          {...form.field('status')}
          min={200}
          max={599}
          w={110}
          allowDecimal={false}
        />
        <Button type="submit" variant="default" loading={form.isSaving}>
          {words.set}
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        {words.answerNameHint} {words.answerHint}
      </Text>
    </FormFrame>
  )
}

function Callback({ callback }: { callback: Caught }) {
  const parsed = parse(callback.body)
  const type =
    parsed && typeof parsed === 'object' && 'type' in parsed ? String(parsed.type) : `/${callback.name}`
  return (
    <details className={classes['callback']}>
      <summary>
        <b>{type}</b>
        <Tag tone={tones[callback.verdict]}>{words.verdicts[callback.verdict]}</Tag>
        <Tag tone={callback.answered < 300 ? 'neutral' : 'warn'}>{words.answered(callback.answered)}</Tag>
        <span className={classes['when']}>
          <Instant at={callback.receivedAt} as="short" />
        </span>
      </summary>
      <ExchangeView
        parts={[
          { label: words.body, value: parsed ?? callback.body },
          {
            label: words.headers,
            value: Object.entries(callback.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n'),
          },
        ]}
      />
    </details>
  )
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
