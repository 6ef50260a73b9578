/** The company webhook with its secret, and the secret of callbacks that come with a request. */
import { Group, MultiSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { AnswerOf, BodyOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { SecretActions } from '../../components/secret-actions.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.company.webhook
type Webhook = AnswerOf<'GET /company/webhook'>

export function WebhookPanel() {
  const { data, error, refetch, isPending } = useApiQuery('/company/webhook')
  const isNone = error?.status === 404
  const webhook = isNone ? undefined : data
  const [newSecret, setNewSecret] = useState<string>()
  if (isPending && !error) return <PageLoading />
  if (error && !isNone) return <ErrorState error={error} onRetry={refetch} />
  return (
    <Panel
      maw={860}
      title={
        <Group gap="xs" component="span">
          {words.title}
          {webhook && (
            <Tag tone={webhook.disabledAt ? 'warn' : 'good'}>{webhook.disabledAt ? words.off : words.on}</Tag>
          )}
        </Group>
      }
      actions={
        <Group gap="sm">
          <AppLink to="/callbacks" search={{ endpoint: 'webhook' }} size="sm">
            {words.watch}
          </AppLink>
          {webhook && <RemoveWebhook onRemoved={() => setNewSecret(undefined)} />}
        </Group>
      }
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {words.hint} {!webhook && words.none}
        </Text>
        {webhook?.disabledAt && (
          <Text size="sm" c="var(--pombo-warn-text)">
            {words.offSince} <Instant at={webhook.disabledAt} />
            {webhook.disabledReason && `: ${webhook.disabledReason}`}
          </Text>
        )}
        {newSecret && <SecretOnce value={newSecret} title={words.newSecret} hint={words.newSecretHint} />}
        <WebhookForm key={webhook?.createdAt ?? 'new'} webhook={webhook} onNew={setNewSecret} />
        {webhook && <WebhookSecret />}
      </Stack>
    </Panel>
  )
}

type FormProps = { webhook: Webhook | undefined; onNew(secret: string): void }

function WebhookForm({ webhook, onNew }: FormProps) {
  const sandbox = useApiQuery('/sandbox')
  const form = useApiForm('PUT /company/webhook', {
    initial: {
      url: webhook?.url ?? '',
      events: webhook?.events ?? [],
      isEnabled: !webhook?.disabledAt,
    },
    call: ({ url, events, isEnabled }) => ({ body: { url, events: events as WebhookEvents, isEnabled } }),
    success: words.saved,
    alsoStale: ['callbacks'],
    onSuccess: ({ secret }) => secret && onNew(secret),
  })
  const catcher = sandbox.data?.catcherUrl
  return (
    <FormFrame form={form} submitLabel={webhook ? words.save : words.set}>
      <TextInput
        label={words.url}
        description={catcher ? `${words.urlHint} ${words.sandboxHint(`${catcher}/webhook`)}` : words.urlHint}
        required
        type="url"
        {...form.field('url')}
      />
      <MultiSelect
        label={words.events}
        description={words.eventsHint}
        data={Object.entries(text.callbacks.events).map(([event, label]) => ({
          value: `message.${event}`,
          label,
        }))}
        {...form.field('events')}
      />
      {webhook && <Switch label={words.isEnabled} {...form.check('isEnabled')} />}
    </FormFrame>
  )
}

type WebhookEvents = NonNullable<BodyOf<'PUT /company/webhook'>['events']>

function RemoveWebhook({ onRemoved }: { onRemoved(): void }) {
  const remove = useApiMutation('DELETE /company/webhook', { success: words.removed, onSuccess: onRemoved })
  return (
    <ConfirmButton
      size="xs"
      label={words.remove}
      title={words.removeTitle}
      confirmLabel={text.common.yesRemove}
      isWorking={remove.isPending}
      onConfirm={() => remove.mutateAsync({})}
    >
      {words.removeHint}
    </ConfirmButton>
  )
}

function WebhookSecret() {
  const show = useApiMutation('POST /company/webhook/secret/show')
  const rotate = useApiMutation('POST /company/webhook/secret/rotate')
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        {words.secretTitle}
      </Text>
      <SecretActions
        what={words.what}
        rotateHint={text.company.callbackSecret.rotateHint}
        show={async () => (await show.mutateAsync({})).data.secret}
        rotate={async (overlapHours) => ({
          value: (await rotate.mutateAsync({ body: { overlapHours } })).data.secret,
        })}
      />
    </div>
  )
}

export function CallbackSecretPanel() {
  const show = useApiMutation('POST /company/callback-secret/show')
  const rotate = useApiMutation('POST /company/callback-secret/rotate')
  const own = text.company.callbackSecret
  return (
    <Panel title={own.title} maw={860}>
      <Text size="sm" c="dimmed" mb="sm">
        {own.hint}
      </Text>
      <SecretActions
        what={own.what}
        rotateHint={own.rotateHint}
        show={async () => (await show.mutateAsync({})).data.secret}
        rotate={async (overlapHours) => ({
          value: (await rotate.mutateAsync({ body: { overlapHours } })).data.secret,
        })}
      />
    </Panel>
  )
}
