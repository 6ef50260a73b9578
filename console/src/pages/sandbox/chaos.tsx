/** Trouble on purpose: a board of dials per channel, every change sent at once. */
import { Button, Group, NumberInput, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconWind } from '@tabler/icons-react'
import type { Dials } from '../../../../src/sandbox/chaos.ts'
import { ErrorState } from '../../components/error-state.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { ChaosBoard } from './chaos-board.tsx'

const words = text.sandbox.chaos
const channels = ['whatsapp', 'sms', 'email'] as const
export type ChaosChannel = (typeof channels)[number]

export function Chaos() {
  const { data, error, refetch, dataUpdatedAt } = useApiQuery('/sandbox/chaos')
  const turn = useApiMutation('PUT /sandbox/chaos', { success: words.turned })
  const calm = useApiMutation('DELETE /sandbox/chaos', { success: words.calmed })
  if (error && data === undefined) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  const settings = data as unknown as { seed: number } & Record<ChaosChannel, Dials>
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-end">
        <Text size="sm" c="dimmed" maw={620}>
          {words.lead}
        </Text>
        <Group align="flex-end" gap="xs">
          <NumberInput
            key={settings.seed}
            label={words.seed}
            w={120}
            min={0}
            allowDecimal={false}
            defaultValue={settings.seed}
            onBlur={(event) => {
              const seed = Number(event.currentTarget.value)
              if (Number.isSafeInteger(seed) && seed !== settings.seed) turn.mutate({ body: { seed } })
            }}
          />
          <Button
            variant="default"
            leftSection={<IconWind size={16} aria-hidden />}
            loading={calm.isPending}
            onClick={() => calm.mutate({})}
          >
            {words.calmAll}
          </Button>
        </Group>
      </Group>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        {channels.map((channel) => (
          <ChaosBoard
            key={`${channel} ${dataUpdatedAt}`}
            channel={channel}
            dials={settings[channel]}
            onChange={(dials) => turn.mutate({ body: { [channel]: dials } })}
          />
        ))}
      </SimpleGrid>
    </Stack>
  )
}
