/** Adding one entry by hand. */
import { Checkbox, Select, TextInput } from '@mantine/core'
import { FormFrame } from '../../components/form-frame.tsx'
import { fromLocalInput } from '../../format.ts'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { text } from '../../text/index.ts'

const words = text.restrictionLists
type Field = keyof typeof words.fieldNames

type EntryValues = { field: Field; value: string; isPrefix: boolean; expiresAt: string }
const nothingYet: EntryValues = { field: 'phone', value: '', isPrefix: false, expiresAt: '' }

export function AddEntryForm({ listId, onDone }: { listId: string; onDone(): void }) {
  const form = useApiForm('POST /restriction-lists/:id/entries', {
    initial: nothingYet,
    call: ({ expiresAt, ...entry }) => ({
      path: { id: listId },
      body: {
        entries: [{ ...entry, ...(expiresAt !== '' && { expiresAt: fromLocalInput(expiresAt) }) }],
      },
    }),
    success: words.entryAdded,
    onSuccess: onDone,
  })
  const at = (name: string) => `entries[0].${name}`
  return (
    <FormFrame form={form} submitLabel={words.addEntry} onCancel={onDone}>
      <Select
        label={words.field}
        data={Object.entries(words.fieldNames).map(([value, label]) => ({ value, label }))}
        {...form.field('field', at('field'))}
      />
      <TextInput label={words.shownValue} required data-autofocus {...form.field('value', at('value'))} />
      <Checkbox
        label={words.isPrefix}
        description={words.isPrefixHint}
        {...form.check('isPrefix', at('isPrefix'))}
      />
      <TextInput
        type="datetime-local"
        label={words.expiresAt}
        description={words.expiresAtHint}
        {...form.field('expiresAt', at('expiresAt'))}
      />
    </FormFrame>
  )
}
