/** What creating and changing a line have in common. */
import { MultiSelect, NumberInput, Select, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { OrderedList } from '../../components/ordered-list.tsx'
import type { Channel } from '../../components/state-badge.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.channels

export type DeliveryValues = {
  ratePerSecond: number | string
  inFlightLimit: number | string
  segmentIds: string[]
  failoverLineIds: string[]
  isProspect: boolean
  isEnabled: boolean
}

export const usualDelivery: DeliveryValues = {
  ratePerSecond: 50,
  inFlightLimit: 32,
  segmentIds: [],
  failoverLineIds: [],
  isProspect: false,
  isEnabled: true,
}

/** An empty number is not sent, so that the server keeps or fills in its own. */
export const deliveryBody = (values: DeliveryValues) => ({
  ratePerSecond: numberOf(values.ratePerSecond),
  inFlightLimit: numberOf(values.inFlightLimit),
  segmentIds: values.segmentIds,
  failoverLineIds: values.failoverLineIds,
  isProspect: values.isProspect,
  isEnabled: values.isEnabled,
})

const numberOf = (value: number | string): number | undefined => (value === '' ? undefined : Number(value))

type DeliveryFieldsProps = {
  values: DeliveryValues
  set(changes: Partial<DeliveryValues>): void
  errorOf(path: string): string | undefined
  channel: Channel
  /** Not in its own failover list. */
  lineId?: string
}

export function DeliveryFields({ values, set, errorOf, channel, lineId }: DeliveryFieldsProps) {
  const segments = useApiQuery('/segments', { query: { limit: 200, sort: 'name' } })
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
        <NumberInput
          label={words.rate}
          description={words.rateUnit}
          decimalScale={3}
          value={values.ratePerSecond}
          onChange={(ratePerSecond) => set({ ratePerSecond })}
          error={errorOf('ratePerSecond')}
        />
        <NumberInput
          label={words.inFlightLimit}
          description={words.inFlightUnit}
          allowDecimal={false}
          value={values.inFlightLimit}
          onChange={(inFlightLimit) => set({ inFlightLimit })}
          error={errorOf('inFlightLimit')}
        />
        <Switch
          label={words.enabled}
          description={words.enabledHint}
          checked={values.isEnabled}
          onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
        />
        <Switch
          label={words.prospect}
          description={words.prospectHint}
          checked={values.isProspect}
          onChange={(event) => set({ isProspect: event.currentTarget.checked })}
        />
      </SimpleGrid>
      <MultiSelect
        label={words.segments}
        description={words.segmentsHint}
        data={(segments.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={values.segmentIds}
        onChange={(segmentIds) => set({ segmentIds })}
        searchable
        error={errorOf('segmentIds')}
      />
      <FailoverField
        channel={channel}
        lineId={lineId}
        value={values.failoverLineIds}
        onChange={(failoverLineIds) => set({ failoverLineIds })}
        error={errorOf('failoverLineIds')}
      />
    </Stack>
  )
}

type FailoverFieldProps = {
  channel: Channel
  lineId?: string
  value: string[]
  onChange(ids: string[]): void
  error?: string
}

function FailoverField({ channel, lineId, value, onChange, error }: FailoverFieldProps) {
  const { data } = useApiQuery('/lines', { query: { channel, limit: 200, sort: 'name' } })
  const others = (data?.items ?? []).filter(({ id }) => id !== lineId)
  const nameOf = (id: string) => others.find((line) => line.id === id)?.name ?? id
  const left = others.filter(({ id }) => !value.includes(id))
  return (
    <Stack gap={6} component="fieldset" m={0} p={0} bd="none">
      <Text component="legend" size="sm" fw={500} p={0}>
        {words.failover}
      </Text>
      <Text size="xs" c="dimmed">
        {words.failoverHint}
      </Text>
      {value.length > 0 && (
        <OrderedList
          label={words.failover}
          items={value.map((id) => ({ id, name: nameOf(id) }))}
          onChange={onChange}
          words={{ up: words.failoverUp, down: words.failoverDown, remove: words.failoverRemove }}
        />
      )}
      {left.length > 0 ? (
        <Select
          aria-label={words.failoverAdd}
          placeholder={words.failoverAdd}
          data={left.map(({ id, name }) => ({ value: id, label: name }))}
          value={null}
          onChange={(id) => id && onChange([...value, id])}
          error={error}
          searchable
          maw={320}
        />
      ) : (
        value.length === 0 && (
          <Text size="sm" c="dimmed">
            {words.noOtherLines}
          </Text>
        )
      )}
    </Stack>
  )
}
