/** Direct tokens: generate, change, renew, revoke. */
import { Button, Stack, Switch, Text } from '@mantine/core'
import { IconKey, IconPencil, IconPlus, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import type { ItemOf } from '../../api.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { IconAction } from '../../components/icon-action.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { Tag } from '../../components/tag.tsx'
import { useListState } from '../../hooks/use-list-state.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { CreateTokenForm, TokenEditor } from './token-form.tsx'

const words = text.company.tokens
type Token = ItemOf<'GET /direct-tokens'>
type Made = { name: string; token: string }

const columns: readonly Column<Token>[] = [
  { header: words.name, cell: ({ name }) => name, sort: 'name', isTitle: true },
  {
    header: words.channels,
    cell: ({ channels }) => (channels ?? []).map((channel) => text.common.channels[channel]).join(', '),
  },
  {
    header: words.addresses,
    cell: ({ allowedAddresses }) =>
      allowedAddresses && allowedAddresses.length > 0 ? allowedAddresses.join(', ') : words.anyAddress,
  },
  {
    header: words.state,
    cell: ({ revokedAt }) =>
      revokedAt ? <Tag tone="bad">{words.revoked}</Tag> : <Tag tone="good">{words.active}</Tag>,
  },
  { header: words.created, sort: 'createdAt', cell: ({ createdAt }) => <Instant at={createdAt} /> },
]

const filters = {}

export function TokensPanel() {
  const list = useListState({ filters, sort: { by: 'createdAt', order: 'desc' } })
  const [isAll, setIsAll] = useState(false)
  const query = useApiQuery(
    '/direct-tokens',
    { query: { ...list.query, ...(!isAll && { isRevoked: false }) } },
    { keepsFormer: true },
  )
  const [open, setOpen] = useState<'new' | Token>()
  const [made, setMade] = useState<Made>()
  const close = () => setOpen(undefined)
  const onMade = (token: Made) => {
    close()
    setMade(token)
  }
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen('new')}>
      {words.add}
    </Button>
  )
  return (
    <Panel title={words.title} actions={add}>
      <Text size="sm" c="dimmed" mb="sm" maw={760}>
        {words.hint}
      </Text>
      <Switch
        label={words.showRevoked}
        checked={isAll}
        onChange={(event) => setIsAll(event.currentTarget.checked)}
        mb="sm"
      />
      <DataTable
        label={words.title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState icon={IconKey} title={words.emptyTitle} hint={words.emptyHint} />}
        actions={(token) =>
          token.revokedAt ? null : (
            <TokenActions token={token} onChange={() => setOpen(token)} onMade={onMade} />
          )
        }
      />
      <FormModal title={words.add} isOpen={open === 'new'} onClose={close}>
        <CreateTokenForm onMade={onMade} onCancel={close} />
      </FormModal>
      {typeof open === 'object' && (
        <FormModal title={words.changeTitle(open.name)} isOpen onClose={close}>
          <TokenEditor id={open.id} onDone={close} />
        </FormModal>
      )}
      {made && (
        <FormModal title={words.newTitle(made.name)} isOpen onClose={() => setMade(undefined)}>
          <Stack gap="sm">
            <SecretOnce value={made.token} />
            <Button onClick={() => setMade(undefined)}>{words.done}</Button>
          </Stack>
        </FormModal>
      )}
    </Panel>
  )
}

type ActionsProps = { token: Token; onChange(): void; onMade(made: Made): void }

function TokenActions({ token: { id, name }, onChange, onMade }: ActionsProps) {
  const renew = useApiMutation('POST /direct-tokens/:id/renew', { success: words.renewed, onSuccess: onMade })
  const revoke = useApiMutation('DELETE /direct-tokens/:id', { success: words.revokedDone })
  return (
    <>
      <IconAction
        label={words.changeOf(name)}
        icon={<IconPencil size={16} aria-hidden />}
        onClick={onChange}
      />
      <ConfirmButton
        label={words.renewOf(name)}
        icon={<IconRefresh size={16} aria-hidden />}
        title={words.renewTitle(name)}
        confirmLabel={words.renew}
        isWorking={renew.isPending}
        onConfirm={() => renew.mutateAsync({ path: { id } })}
      >
        {words.renewHint}
      </ConfirmButton>
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
    </>
  )
}
