/** Creating and changing a segment: the pattern of a form. */
import { TextInput } from '@mantine/core'
import type { AnswerOf } from '../api.ts'
import { ErrorState } from '../components/error-state.tsx'
import { FormFrame } from '../components/form-frame.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { useApiForm } from '../hooks/use-api-form.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'

const words = text.segments

export function CreateSegmentForm({ onDone }: { onDone(): void }) {
  const form = useApiForm('POST /segments', {
    initial: { name: '', clientCode: '' },
    call: (values) => ({ body: values }),
    success: words.created,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} submitLabel={text.common.create} onCancel={onDone}>
      <TextInput label={words.name} required data-autofocus {...form.field('name')} />
      <TextInput label={words.clientCode} description={words.clientCodeHint} {...form.field('clientCode')} />
    </FormFrame>
  )
}

/** Reads the record first: its version goes back with the change, so that nobody's work is overwritten unseen. */
export function SegmentEditor({ id, onDone }: { id: string; onDone(): void }) {
  const { data, version, error, refetch } = useApiQuery('/segments/:id', { path: { id } })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return <ChangeSegmentForm segment={data} version={version} onDone={onDone} />
}

type ChangeProps = { segment: AnswerOf<'GET /segments/:id'>; version: string | undefined; onDone(): void }

function ChangeSegmentForm({ segment, version, onDone }: ChangeProps) {
  const form = useApiForm('PATCH /segments/:id', {
    initial: { name: segment.name, clientCode: segment.clientCode ?? '' },
    call: (values) => ({ path: { id: segment.id }, body: values, version }),
    success: words.changed,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} onCancel={onDone}>
      <TextInput label={words.name} required data-autofocus {...form.field('name')} />
      <TextInput label={words.clientCode} description={words.clientCodeHint} {...form.field('clientCode')} />
    </FormFrame>
  )
}
