/** "Test this line": a real message, and what happens to it as it happens. */
import { SegmentedControl, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ItemOf } from '../../api.ts'
import { FormFrame } from '../../components/form-frame.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { OneLine } from './lanes.ts'
import { TestProgress } from './test-progress.tsx'

const words = text.channels
type Template = ItemOf<'GET /templates'>

export function TestLine({ line }: { line: OneLine }) {
  const [messageId, setMessageId] = useState<string>()
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Panel title={words.test}>
        <TestForm line={line} onSent={setMessageId} />
      </Panel>
      {messageId && <TestProgress key={messageId} id={messageId} />}
    </SimpleGrid>
  )
}

type TestValues = {
  recipient: string
  kind: string
  text: string
  subject: string
  templateCode: string
  variables: Record<string, string>
}

const nothingYet: TestValues = {
  recipient: '',
  kind: 'text',
  text: '',
  subject: '',
  templateCode: '',
  variables: {},
}

function TestForm({ line, onSent }: { line: OneLine; onSent(messageId: string): void }) {
  const templates = useApiQuery('/templates', { query: { channel: line.channel, limit: 200, sort: 'name' } })
  const form = useApiForm('POST /lines/:id/test', {
    initial: nothingYet,
    call: ({ kind, recipient, subject, ...values }) => ({
      path: { id: line.id },
      body: {
        recipient,
        ...(line.channel === 'email' && { subject }),
        ...(kind === 'template'
          ? { templateCode: values.templateCode, variables: values.variables }
          : { text: values.text }),
        // The id at once: what happens then is watched on this page.
        waitSeconds: 0,
      },
    }),
    success: words.testSent,
    alsoStale: ['messages', 'audit'],
    onSuccess: ({ messageId }) => onSent(messageId),
  })
  const { kind, variables } = form.values
  const chosen = templates.data?.items.find(({ code }) => code === form.values.templateCode)
  return (
    <FormFrame form={form} submitLabel={words.sendTest}>
      <Text size="sm">{words.testHint}</Text>
      <TextInput
        label={words.recipient}
        description={line.channel === 'email' ? words.recipientEmail : words.recipientPhone}
        required
        {...form.field('recipient')}
      />
      <SegmentedControl
        aria-label={words.whatToSend}
        value={kind}
        onChange={(value) => form.set({ kind: value })}
        data={[
          { value: 'text', label: words.asText },
          { value: 'template', label: words.asTemplate },
        ]}
      />
      {line.channel === 'email' && <TextInput label={words.subject} {...form.field('subject')} />}
      {kind === 'text' ? (
        <Textarea
          label={words.text}
          description={line.channel === 'whatsapp' ? words.textWindow : undefined}
          autosize
          minRows={2}
          {...form.field('text')}
        />
      ) : (
        <Stack gap="sm">
          <Select
            label={words.template}
            description={words.templateHint}
            required
            searchable
            data={(templates.data?.items ?? []).map(({ code, name }) => ({ value: code, label: name }))}
            {...form.field('templateCode')}
            value={form.values.templateCode || null}
          />
          {chosen && (
            <Variables
              template={chosen}
              values={variables}
              onChange={(changed) => form.set({ variables: changed })}
              errorOf={form.errorOf}
            />
          )}
        </Stack>
      )}
    </FormFrame>
  )
}

type VariablesProps = {
  template: Template
  values: Record<string, string>
  onChange(values: Record<string, string>): void
  errorOf(path: string): string | undefined
}

const Variables = ({ template, values, onChange, errorOf }: VariablesProps) =>
  variablesOf(template).map((name) => (
    <TextInput
      key={name}
      label={words.variable(name)}
      value={values[name] ?? ''}
      onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
      error={errorOf(`variables.${name}`)}
    />
  ))

export function variablesOf(template: Template): string[] {
  const { variables } = template.content as { variables?: unknown }
  return Array.isArray(variables) ? variables.filter((name) => typeof name === 'string') : []
}
