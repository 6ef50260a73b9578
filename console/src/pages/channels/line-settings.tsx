/** Changing a line, and removing it. */
import { Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, type BodyOf } from '../../api.ts'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { filledIn, type JsonSchema, type Values } from '../../components/schema-form/schema.ts'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { explain } from '../../explain.ts'
import { text } from '../../text/index.ts'
import { DeliveryFields, deliveryBody, usualDelivery, type DeliveryValues } from './line-fields.tsx'
import { addressOf, type OneLine } from './lanes.ts'

const words = text.channels

type LineSettingsProps = { line: OneLine; version: string | undefined }

export function LineSettings(props: LineSettingsProps) {
  const { data, error, refetch } = useApiQuery('/drivers')
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  const driver = data.items.find(({ name }) => name === props.line.driver)
  return (
    <Stack gap="md">
      <SettingsForm {...props} schema={driver?.settings} />
      <Can do="DELETE /lines/:id">
        <RemoveLine {...props} />
      </Can>
    </Stack>
  )
}

const deliveryOf = (line: OneLine): DeliveryValues => ({
  ratePerSecond: line.ratePerSecond ?? usualDelivery.ratePerSecond,
  inFlightLimit: line.inFlightLimit ?? usualDelivery.inFlightLimit,
  segmentIds: line.segmentIds ?? [],
  failoverLineIds: line.failoverLineIds ?? [],
  isProspect: line.isProspect ?? false,
  isEnabled: line.isEnabled ?? true,
})

function SettingsForm({ line, version, schema }: LineSettingsProps & { schema: JsonSchema | undefined }) {
  const initial: DeliveryValues & { name: string; settings: Values } = {
    name: line.name,
    settings: line.settings,
    ...deliveryOf(line),
  }
  const form = useApiForm('PATCH /lines/:id', {
    initial,
    call: ({ name, settings, ...delivery }) => ({
      path: { id: line.id },
      version,
      body: {
        name,
        ...deliveryBody(delivery),
        ...(schema && { settings: filledIn(settings) }),
      } as BodyOf<'PATCH /lines/:id'>,
    }),
    success: words.changed,
    alsoStale: ['lanes', 'audit'],
  })
  return (
    <FormFrame form={form}>
      <Panel title={words.identityPart}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
          <TextInput label={words.name} description={words.nameHint} required {...form.field('name')} />
          <TextInput
            label={words.address}
            description={words.addressFixed}
            value={addressOf(line)}
            readOnly
            variant="filled"
          />
        </SimpleGrid>
      </Panel>
      {schema && (
        <Panel title={words.providerPart}>
          <SchemaForm
            schema={schema}
            values={form.values.settings}
            onChange={(settings) => form.set({ settings })}
            errorOf={(path) => form.errorOf(`settings.${path}`)}
            setSecrets={line.secrets}
          />
        </Panel>
      )}
      <Panel title={words.deliveryPart}>
        <DeliveryFields
          values={form.values}
          set={form.set}
          errorOf={form.errorOf}
          channel={line.channel}
          lineId={line.id}
        />
      </Panel>
    </FormFrame>
  )
}

/** What stands in the way is said here, with the way out. */
function RemoveLine({ line: { id, name, isEnabled }, version }: LineSettingsProps) {
  const navigate = useNavigate()
  const [hindrance, setHindrance] = useState<string>()
  const remove = useApiMutation('DELETE /lines/:id', {
    success: words.removed,
    alsoStale: ['lanes'],
    isQuietOnError: true,
    onSuccess: () => void navigate({ to: '/channels' }),
  })
  const switchOff = useApiMutation('PATCH /lines/:id', { success: words.switchedOff, alsoStale: ['lanes'] })
  const confirm = async () => {
    try {
      await remove.mutateAsync({ path: { id }, version })
    } catch (error) {
      setHindrance(explain(error instanceof Error ? error : new ApiError('', { status: 0 })))
    }
  }
  return (
    <Panel title={words.remove}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{words.removeHint}</Text>
        {hindrance && (
          <Text size="sm" c="red.9" role="alert">
            {hindrance}
          </Text>
        )}
        <Group gap="xs">
          <ConfirmButton
            label={words.remove}
            title={words.removeTitle(name)}
            confirmLabel={text.common.yesRemove}
            isWorking={remove.isPending}
            onConfirm={confirm}
          >
            {words.removeHint}
          </ConfirmButton>
          {hindrance && isEnabled !== false && (
            <Button
              loading={switchOff.isPending}
              onClick={() => switchOff.mutate({ path: { id }, body: { isEnabled: false }, version })}
            >
              {words.switchOff}
            </Button>
          )}
        </Group>
      </Stack>
    </Panel>
  )
}
