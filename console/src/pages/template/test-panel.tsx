/** A real message with the sample values, and what becomes of it. */
import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useState } from 'react'
import { variableKey } from '../../../../src/domain/variables.ts'
import { AppLink } from '../../components/app-link.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { TemplateRecord } from './draft.ts'
import { useEditing } from './editing.ts'
import { SampleFile } from './preview.tsx'

const words = text.templates

export function TestPanel({ template, isDirty }: { template: TemplateRecord; isDirty: boolean }) {
  const editing = useEditing()
  const { shape, samples, sampleFiles, draft } = editing
  const [sentId, setSentId] = useState<string>()
  const lines = useApiQuery('/lines', { query: { limit: 200 } })
  const form = useApiForm('POST /templates/:id/test', {
    initial: { recipient: '', lineId: '' },
    call: ({ recipient, lineId }) => ({
      path: { id: template.id },
      body: {
        recipient,
        ...(lineId !== '' && { lineId }),
        variables: Object.fromEntries(
          (template.content.variables ?? []).flatMap((name) => {
            const value = samples[variableKey(name)]
            return value ? [[name, value]] : []
          }),
        ),
        mediaIds: sampleFiles.slice(0, filesOf(editing)).flatMap((file) => file?.id ?? []),
        isFlash: shape.channel === 'sms' && editing.isFlash,
        waitSeconds: 0,
      },
    }),
    success: words.testSent,
    alsoStale: ['messages'],
    onSuccess: ({ messageId }) => setSentId(messageId),
  })
  const ofChannel = (lines.data?.items ?? []).filter(({ channel }) => channel === shape.channel)
  const fileError =
    form.errorOf('mediaIds') ??
    draft.cards.map((_, at) => form.errorOf(`mediaIds[${at}]`)).find((error) => error !== undefined)
  const variableError = form.errorOf('variables')
  return (
    <Panel title={words.testTitle}>
      <Text size="sm" c="dimmed" mb="sm">
        {isDirty ? words.testNeedsSave : words.testLead}
      </Text>
      <FormFrame form={form} isReadOnly>
        <TextInput label={words.recipient[shape.channel]} {...form.field('recipient')} />
        {ofChannel.length > 1 && (
          <Select
            label={words.line}
            data={[
              { value: '', label: words.lineAny },
              ...ofChannel.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            {...form.field('lineId')}
          />
        )}
        {shape.channel === 'sms' && (
          <Switch
            label={words.isFlash}
            checked={editing.isFlash}
            onChange={(event) => editing.setIsFlash(event.currentTarget.checked)}
          />
        )}
        {shape.channel === 'email' && (
          <Group gap="xs">
            <SampleFile at={0} label={words.addAttachment} />
            {sampleFiles[0] && (
              <Button variant="subtle" size="compact-sm" onClick={() => editing.setSampleFile(0, undefined)}>
                {words.removeAttachment}
              </Button>
            )}
          </Group>
        )}
        {[fileError, variableError].map(
          (error) =>
            error && (
              <Text key={error} size="sm" c="var(--mantine-color-error)" role="alert">
                {error}
              </Text>
            ),
        )}
        <Group>
          <Button
            type="submit"
            size="xs"
            variant="default"
            leftSection={<IconSend size={14} aria-hidden />}
            disabled={isDirty}
            loading={form.isSaving}
          >
            {words.send}
          </Button>
          {form.failedWith === 409 && <AppLink to="/rules">{words.seeRules}</AppLink>}
        </Group>
      </FormFrame>
      {sentId && <SentTest id={sentId} />}
    </Panel>
  )
}

/** How many of the sample files belong to a message of this shape. */
function filesOf({ shape, draft }: Pick<ReturnType<typeof useEditing>, 'shape' | 'draft'>): number {
  if (shape.channel === 'email') return 1
  if (shape.channel === 'sms') return 0
  if (shape.kind === 'carousel') return draft.cards.length
  return draft.headerKind === 'none' || draft.headerKind === 'text' ? 0 : 1
}

const unfinished = new Set(['queued', 'sending', 'sent'])
/** An e-mail server may say no more than that it took the message, so the looking ends. */
const lookMs = 60_000

function SentTest({ id }: { id: string }) {
  const [startedAt] = useState(() => Date.now())
  const [isOver, setIsOver] = useState(false)
  const { data } = useApiQuery('/messages/:id', { path: { id } }, { everyMs: isOver ? false : 1_000 })
  const isDone = (data && !unfinished.has(data.state)) || Date.now() - startedAt > lookMs
  if (isDone && !isOver) setIsOver(true)
  return (
    <Stack gap={4} mt="sm" aria-live="polite">
      <Group gap="xs">
        <Text size="sm">{words.testState}</Text>
        {data && <StateBadge state={data.state} />}
      </Group>
      <AppLink to="/messages/$id" params={{ id }} size="sm">
        {words.seeMessage}
      </AppLink>
    </Stack>
  )
}
