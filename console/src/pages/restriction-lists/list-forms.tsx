/** Creating and renaming a list. */
import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { FormFrame } from '../../components/form-frame.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { text } from '../../text/index.ts'

const words = text.restrictionLists

export function CreateListForm({ onDone }: { onDone(): void }) {
  const navigate = useNavigate()
  const form = useApiForm('POST /restriction-lists', {
    initial: { name: '' },
    call: (body) => ({ body }),
    success: words.createdDone,
    onSuccess: ({ id }) => {
      onDone()
      void navigate({ to: '/restriction-lists/$id', params: { id } })
    },
  })
  return (
    <FormFrame form={form} submitLabel={text.common.create} onCancel={onDone}>
      <TextInput label={words.name} required data-autofocus {...form.field('name')} />
    </FormFrame>
  )
}

type RenameProps = { list: { id: string; name: string }; version: string | undefined; onDone(): void }

export function RenameListForm({ list: { id, name }, version, onDone }: RenameProps) {
  const form = useApiForm('PATCH /restriction-lists/:id', {
    initial: { name },
    call: (body) => ({ path: { id }, body, version }),
    success: words.renamed,
    alsoStale: ['rules'],
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} onCancel={onDone}>
      <TextInput label={words.name} required data-autofocus {...form.field('name')} />
    </FormFrame>
  )
}
