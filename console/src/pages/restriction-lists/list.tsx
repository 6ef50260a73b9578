/** One list: its entries, what looks at it, and its imports. */
import { Alert, Button, Group, Stack } from '@mantine/core'
import { IconAlertTriangle, IconFileImport, IconPlus } from '@tabler/icons-react'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnswerOf } from '../../api.ts'
import { AppLink, LinkButton } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Page } from '../../components/page.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { formatNumber } from '../../format.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { Entries } from './entries.tsx'
import { AddEntryForm } from './entry-form.tsx'
import { Imports, ImportForm } from './imports.tsx'
import { RenameListForm } from './list-forms.tsx'
import { RuleTags } from './rule-tags.tsx'

const words = text.restrictionLists
type List = AnswerOf<'GET /restriction-lists/:id'>

export function RestrictionList() {
  const { id } = useParams({ from: '/shell/restriction-lists/$id' })
  const { data, version, error, refetch } = useApiQuery('/restriction-lists/:id', { path: { id } })
  const [open, setOpen] = useState<'add' | 'import' | 'rename'>()
  const close = () => setOpen(undefined)
  return (
    <Page
      title={data?.name ?? words.list}
      needs="GET /restriction-lists/:id"
      back={<AppLink to="/restriction-lists">{words.back}</AppLink>}
      lead={data && <Lead list={data} />}
      actions={data && <Actions list={data} version={version} onOpen={setOpen} />}
    >
      {error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <PageLoading />
      ) : (
        <Stack gap="md">
          {data.rules.length === 0 && <NoRule id={id} />}
          <Can do="GET /imports">
            <Imports listId={id} />
          </Can>
          <Entries listId={id} />
          <FormModal title={words.addEntryTitle} isOpen={open === 'add'} onClose={close}>
            <AddEntryForm listId={id} onDone={close} />
          </FormModal>
          <FormModal title={words.importTitle} isOpen={open === 'import'} onClose={close}>
            <ImportForm listId={id} onDone={close} />
          </FormModal>
          <FormModal title={words.renameTitle(data.name)} isOpen={open === 'rename'} onClose={close}>
            <RenameListForm list={data} version={version} onDone={close} />
          </FormModal>
        </Stack>
      )}
    </Page>
  )
}

const Lead = ({ list }: { list: List }) => (
  <Group gap="xs" mt={4}>
    <span>
      {words.entries}: {words.count(formatNumber(list.entries), list.hasMoreEntries)}
    </span>
    {list.rules.length > 0 && (
      <>
        <span>·</span>
        <span>{words.lookedAtBy}</span>
        <RuleTags rules={list.rules} />
      </>
    )}
  </Group>
)

type ActionsProps = {
  list: List
  version: string | undefined
  onOpen(what: 'add' | 'import' | 'rename'): void
}

function Actions({ list: { id, name }, version, onOpen }: ActionsProps) {
  const navigate = useNavigate()
  const remove = useApiMutation('DELETE /restriction-lists/:id', {
    success: words.removed,
    onSuccess: () => void navigate({ to: '/restriction-lists' }),
  })
  return (
    <>
      <Can do="DELETE /restriction-lists/:id">
        <ConfirmButton
          label={words.remove}
          title={words.removeTitle(name)}
          confirmLabel={text.common.yesRemove}
          isWorking={remove.isPending}
          onConfirm={() => remove.mutateAsync({ path: { id }, version })}
        >
          {words.removeHint}
        </ConfirmButton>
      </Can>
      <Can do="PATCH /restriction-lists/:id">
        <Button variant="default" onClick={() => onOpen('rename')}>
          {words.rename}
        </Button>
      </Can>
      <Can do="POST /restriction-lists/:id/import">
        <Button
          variant="default"
          leftSection={<IconFileImport size={16} aria-hidden />}
          onClick={() => onOpen('import')}
        >
          {words.import}
        </Button>
      </Can>
      <Can do="POST /restriction-lists/:id/entries">
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => onOpen('add')}>
          {words.addEntry}
        </Button>
      </Can>
    </>
  )
}

const NoRule = ({ id }: { id: string }) => (
  <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={words.noRuleTitle}>
    <Group justify="space-between" gap="sm">
      {words.noRuleHint}
      <Can do="POST /rules">
        <LinkButton
          to="/rules"
          search={{ new: 'restriction_list', list: id } as never}
          size="xs"
          variant="default"
        >
          {words.makeRule}
        </LinkButton>
      </Can>
    </Group>
  </Alert>
)
