/** Password, second factor, sessions and API token of another user. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { AnswerOf } from '../../api.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { PasswordField } from './fields.tsx'
import classes from './users.module.css'

const words = text.users.access
type User = AnswerOf<'GET /users/:id'>
type Access = AnswerOf<'GET /users/:id/access'>

export function AccessPanel({ user, isSelf }: { user: User; isSelf: boolean }) {
  const { id, role } = user
  const { data, error, refetch } = useApiQuery('/users/:id/access', { path: { id } })
  const [isSetting, setIsSetting] = useState(false)
  return (
    <Panel title={words.title}>
      {error && <ErrorState error={error} onRetry={refetch} />}
      {data && (
        <Stack gap="md">
          <dl className={classes['facts']}>
            {role === 'api' ? <TokenFacts access={data} /> : <PersonFacts access={data} />}
          </dl>
          {role === 'api' && (
            <Text size="sm" c="dimmed">
              {words.renewHint}
            </Text>
          )}
          <Group gap="xs">
            {!isSelf && (
              <Button variant="default" onClick={() => setIsSetting(true)}>
                {words.setPassword}
              </Button>
            )}
            {role === 'api' ? (
              data.tokenExpiresAt && <EndToken id={id} />
            ) : (
              <>
                {data.sessions > 0 && !isSelf && <SignOut id={id} />}
                {data.hasSecondFactor && !isSelf && <RemoveFactor id={id} />}
              </>
            )}
          </Group>
        </Stack>
      )}
      <FormModal title={words.setPassword} isOpen={isSetting} onClose={() => setIsSetting(false)}>
        <PasswordForm id={id} onDone={() => setIsSetting(false)} />
      </FormModal>
    </Panel>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

const PersonFacts = ({ access }: { access: Access }) => (
  <>
    <Fact label={words.factor}>
      <Tag tone={access.hasSecondFactor ? 'good' : 'neutral'}>
        {access.hasSecondFactor ? words.factorOn : words.factorOff}
      </Tag>
    </Fact>
    <Fact label={words.sessions}>{words.sessionsOf(access.sessions)}</Fact>
    <Fact label={words.seen}>
      <Instant at={access.lastSeenAt} />
    </Fact>
  </>
)

const TokenFacts = ({ access }: { access: Access }) =>
  access.tokenExpiresAt ? (
    <>
      <Fact label={words.tokenSince}>
        <Instant at={access.tokenIssuedAt} />
      </Fact>
      <Fact label={words.tokenUntil}>
        <Instant at={access.tokenExpiresAt} />
      </Fact>
    </>
  ) : (
    <Fact label={words.token}>{words.noToken}</Fact>
  )

function PasswordForm({ id, onDone }: { id: string; onDone(): void }) {
  const form = useApiForm('POST /users/:id/password', {
    initial: { password: '' },
    call: (values) => ({ path: { id }, body: values }),
    success: words.passwordSet,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} submitLabel={words.setPassword} onCancel={onDone}>
      <Text size="sm">{words.setPasswordHint}</Text>
      <PasswordField {...form.field('password')} onSuggest={(password) => form.set({ password })} />
    </FormFrame>
  )
}

function EndToken({ id }: { id: string }) {
  const end = useApiMutation('DELETE /users/:id/token', { success: words.tokenEnded })
  return (
    <ConfirmButton
      label={words.endToken}
      title={words.endTokenTitle}
      isWorking={end.isPending}
      onConfirm={() => end.mutateAsync({ path: { id } })}
    >
      {words.endTokenHint}
    </ConfirmButton>
  )
}

function SignOut({ id }: { id: string }) {
  const end = useApiMutation('DELETE /users/:id/sessions', { success: ({ ended }) => words.signedOut(ended) })
  return (
    <ConfirmButton
      label={words.signOut}
      title={words.signOutTitle}
      isWorking={end.isPending}
      onConfirm={() => end.mutateAsync({ path: { id } })}
    >
      {words.signOutHint}
    </ConfirmButton>
  )
}

function RemoveFactor({ id }: { id: string }) {
  const remove = useApiMutation('DELETE /users/:id/totp', { success: words.factorRemoved })
  return (
    <ConfirmButton
      label={words.removeFactor}
      title={words.removeFactorTitle}
      isWorking={remove.isPending}
      onConfirm={() => remove.mutateAsync({ path: { id } })}
    >
      {words.removeFactorHint}
    </ConfirmButton>
  )
}
