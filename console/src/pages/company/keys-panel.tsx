/** Keys of the admin API: create with scopes, revoke. */
import { Anchor, Button, Checkbox, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconKey, IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { ItemOf } from '../../api.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useListState } from '../../hooks/use-list-state.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.company.keys
type Key = ItemOf<'GET /admin-keys'>
type Scope = Key['scopes'][number]
type Made = { name: string; key: string }

const columns: readonly Column<Key>[] = [
  { header: words.name, cell: ({ name }) => name, sort: 'name', isTitle: true },
  {
    header: words.scopes,
    cell: ({ scopes }) => scopes.map((scope) => words.scopeNames[scope]).join(', '),
  },
  { header: words.by, cell: ({ createdBy }) => createdBy },
  {
    header: words.state,
    cell: ({ revokedAt }) =>
      revokedAt ? <Tag tone="bad">{words.revoked}</Tag> : <Tag tone="good">{words.active}</Tag>,
  },
  { header: words.created, sort: 'createdAt', cell: ({ createdAt }) => <Instant at={createdAt} /> },
]

const filters = {}

export function KeysPanel() {
  const list = useListState({ filters, sort: { by: 'createdAt', order: 'desc' } })
  const query = useApiQuery('/admin-keys', { query: list.query }, { keepsFormer: true })
  const [isCreating, setIsCreating] = useState(false)
  const [made, setMade] = useState<Made>()
  return (
    <Panel
      title={words.title}
      actions={
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setIsCreating(true)}>
          {words.add}
        </Button>
      }
    >
      <Text size="sm" c="dimmed" mb="sm" maw={760}>
        {words.hint}{' '}
        <Anchor href="/docs#admin" underline="always" inherit>
          {words.docs}
        </Anchor>
      </Text>
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconKey} title={words.emptyTitle} hint={words.emptyHint} />}
        actions={(key) => (key.revokedAt ? null : <RevokeKey apiKey={key} />)}
      />
      <FormModal title={words.add} isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <CreateKeyForm
          onCancel={() => setIsCreating(false)}
          onMade={(key) => {
            setIsCreating(false)
            setMade(key)
          }}
        />
      </FormModal>
      {made && (
        <FormModal title={words.newTitle(made.name)} isOpen onClose={() => setMade(undefined)}>
          <Stack gap="sm">
            <SecretOnce value={made.key} />
            <Button onClick={() => setMade(undefined)}>{words.done}</Button>
          </Stack>
        </FormModal>
      )}
    </Panel>
  )
}

function CreateKeyForm({ onMade, onCancel }: { onMade(made: Made): void; onCancel(): void }) {
  const users = useApiQuery('/users', { query: { role: 'api', limit: 200 } })
  const form = useApiForm('POST /admin-keys', {
    initial: { name: '', scopes: ['read'] as Scope[], userId: '' },
    call: ({ userId, ...values }) => ({
      body: { ...values, ...(values.scopes.includes('messages:own') && userId && { userId }) },
    }),
    success: words.createdDone,
    onSuccess: onMade,
  })
  const { value, onChange, error } = form.field('scopes')
  return (
    <FormFrame form={form} submitLabel={words.add} onCancel={onCancel}>
      <TextInput
        label={words.name}
        description={words.nameHint}
        required
        data-autofocus
        {...form.field('name')}
      />
      <Checkbox.Group label={words.scopes} value={value} onChange={onChange} error={error}>
        <Stack gap="xs" mt={6} mb={4}>
          {(Object.keys(words.scopeNames) as Scope[]).map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={words.scopeNames[scope]}
              description={words.scopeHints[scope]}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      {form.values.scopes.includes('messages:own') && (
        <Select
          label={words.user}
          description={words.userHint}
          required
          data={(users.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.field('userId')}
        />
      )}
    </FormFrame>
  )
}

function RevokeKey({ apiKey: { id, name } }: { apiKey: Key }) {
  const revoke = useApiMutation('DELETE /admin-keys/:id', { success: words.revokedDone })
  return (
    <ConfirmButton
      label={words.revokeOf(name)}
      icon={<IconTrash size={16} aria-hidden />}
      title={words.revokeTitle(name)}
      confirmLabel={words.revoke}
      isWorking={revoke.isPending}
      onConfirm={() => revoke.mutateAsync({ path: { id } })}
    >
      {words.revokeHint}
    </ConfirmButton>
  )
}
