/** One user: name and role, whether they may come in, and how. */
import { Alert, Select, SimpleGrid, Text } from '@mantine/core'
import { IconBan } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import type { AnswerOf } from '../api.ts'
import { AppLink } from '../components/app-link.tsx'
import { Can } from '../components/can.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { ErrorState } from '../components/error-state.tsx'
import { FormFrame } from '../components/form-frame.tsx'
import { Instant } from '../components/instant.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { Panel } from '../components/panel.tsx'
import { useApiForm } from '../hooks/use-api-form.ts'
import { useApiMutation, useApiQuery } from '../queries.ts'
import { useCan, useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { AccessPanel } from './users/access-panel.tsx'
import { NameInput } from './users/fields.tsx'
import { roleOptions } from './users/roles.ts'

const words = text.users
type UserData = AnswerOf<'GET /users/:id'>

export function User() {
  const { id } = useParams({ from: '/shell/users/$id' })
  const { data, version, error, refetch } = useApiQuery('/users/:id', { path: { id } })
  const can = useCan()
  const isSelf = useSession().userId === id
  return (
    <Page
      title={data?.name ?? words.title}
      needs="GET /users/:id"
      back={<AppLink to="/users">{words.back}</AppLink>}
      lead={
        data && (
          <>
            {words.roleNames[data.role]} · {words.createdAt} <Instant at={data.createdAt} />
          </>
        )
      }
      actions={data && !isSelf && <SuspendButton user={data} />}
    >
      {error && <ErrorState error={error} onRetry={refetch} />}
      {!error && data === undefined && <PageLoading />}
      {data?.disabledAt && (
        <Alert color="red" icon={<IconBan aria-hidden />}>
          {words.suspendedAlert} <Instant at={data.disabledAt} />
        </Alert>
      )}
      {data && (
        <SimpleGrid cols={{ base: 1, md: can('GET /users/:id/access') ? 2 : 1 }}>
          <Panel title={words.profile.title}>
            <ProfileForm key={version} user={data} version={version} isSelf={isSelf} />
          </Panel>
          <Can do="GET /users/:id/access">
            <AccessPanel user={data} isSelf={isSelf} />
          </Can>
        </SimpleGrid>
      )}
    </Page>
  )
}

type ProfileProps = { user: UserData; version: string | undefined; isSelf: boolean }

function ProfileForm({ user, version, isSelf }: ProfileProps) {
  const isReadOnly = !useCan()('PATCH /users/:id')
  const form = useApiForm('PATCH /users/:id', {
    initial: { name: user.name, role: user.role },
    call: (values) => ({ path: { id: user.id }, body: values, version }),
    success: words.profile.saved,
  })
  return (
    <FormFrame form={form} submitLabel={words.profile.save} isReadOnly={isReadOnly}>
      <NameInput {...form.field('name')} data-autofocus={undefined} disabled={isReadOnly} />
      <Select
        label={words.role}
        description={words.roleHints[form.values.role]}
        data={roleOptions}
        disabled={isReadOnly || isSelf}
        {...form.field('role')}
      />
      {isSelf && (
        <Text size="sm" c="dimmed">
          {words.profile.own}
        </Text>
      )}
      {form.values.role !== user.role && (
        <Text size="sm" c="var(--pombo-warn-text)">
          {words.profile.roleChangeHint}
        </Text>
      )}
    </FormFrame>
  )
}

function SuspendButton({ user: { id, name, disabledAt } }: { user: UserData }) {
  const isSuspended = disabledAt !== null
  const change = useApiMutation('PATCH /users/:id', {
    success: isSuspended ? words.resumed : words.suspendedDone,
  })
  return (
    <Can do="PATCH /users/:id">
      <ConfirmButton
        label={isSuspended ? words.resume : words.suspend}
        title={isSuspended ? `${words.resume}: ${name}` : words.suspendTitle(name)}
        isDangerous={!isSuspended}
        isWorking={change.isPending}
        onConfirm={() => change.mutateAsync({ path: { id }, body: { isDisabled: !isSuspended } })}
      >
        {!isSuspended && words.suspendHint}
      </ConfirmButton>
    </Can>
  )
}
