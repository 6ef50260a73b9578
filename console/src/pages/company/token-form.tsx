import { MultiSelect, TagsInput, TextInput } from '@mantine/core'
import type { AnswerOf } from '../../api.ts'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import type { Channel } from '../../components/state-badge.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.company.tokens
const channelOptions = Object.entries(text.common.channels).map(([value, label]) => ({ value, label }))
const allChannels = channelOptions.map(({ value }) => value) as Channel[]

type CreateProps = { onMade(made: { name: string; token: string }): void; onCancel(): void }

export function CreateTokenForm({ onMade, onCancel }: CreateProps) {
  const form = useApiForm('POST /direct-tokens', {
    initial: { name: '', channels: allChannels, allowedAddresses: [] },
    call: (values) => ({ body: values }),
    success: words.createdDone,
    onSuccess: onMade,
  })
  return (
    <FormFrame form={form} submitLabel={words.add} onCancel={onCancel}>
      <TextInput
        label={words.name}
        description={words.nameHint}
        required
        data-autofocus
        {...form.field('name')}
      />
      <Channels {...form.field('channels')} />
      <Addresses {...form.field('allowedAddresses')} />
    </FormFrame>
  )
}

type ListField = { value: string[]; onChange(value: unknown): void; error: string | undefined; name: string }

const Channels = (field: ListField) => (
  <MultiSelect label={words.channels} description={words.channelsHint} data={channelOptions} {...field} />
)

const Addresses = (field: ListField) => (
  <TagsInput
    label={words.addresses}
    description={words.addressesHint}
    splitChars={[',', ' ', ';']}
    acceptValueOnBlur
    {...field}
  />
)

export function TokenEditor({ id, onDone }: { id: string; onDone(): void }) {
  const { data, version, error, refetch } = useApiQuery('/direct-tokens/:id', { path: { id } })
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return <ChangeTokenForm token={data} version={version} onDone={onDone} />
}

type ChangeProps = { token: AnswerOf<'GET /direct-tokens/:id'>; version: string | undefined; onDone(): void }

function ChangeTokenForm({ token, version, onDone }: ChangeProps) {
  const form = useApiForm('PATCH /direct-tokens/:id', {
    initial: {
      name: token.name,
      channels: token.channels ?? [],
      allowedAddresses: token.allowedAddresses ?? [],
    },
    call: (values) => ({ path: { id: token.id }, body: values, version }),
    success: words.changed,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} onCancel={onDone}>
      <TextInput
        label={words.name}
        description={words.nameHint}
        required
        data-autofocus
        {...form.field('name')}
      />
      <Channels {...form.field('channels')} />
      <Addresses {...form.field('allowedAddresses')} />
    </FormFrame>
  )
}
