import { Group, Stack, Text } from '@mantine/core'
import type { AnswerOf } from '../../api.ts'
import { Panel } from '../../components/panel.tsx'
import { WindowClock } from '../../components/window-clock.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.contacts

/** One clock per WhatsApp line that the person wrote to. */
export function WindowsPanel({ windows }: { windows: AnswerOf<'GET /contacts/:id'>['windows'] }) {
  const { data } = useApiQuery('/lines', { query: { channel: 'whatsapp', limit: 200 } })
  return (
    <Panel title={words.windows}>
      <Stack gap={6}>
        {windows.length === 0 && <Text size="sm">{words.noWindows}</Text>}
        {windows.map(({ lineId, closesAt }) => (
          <Group key={lineId} justify="space-between" gap="xs">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {data ? (data.items.find(({ id }) => id === lineId)?.name ?? words.removedLine) : ' '}
            </Text>
            <WindowClock closesAt={closesAt} />
          </Group>
        ))}
        <Text size="xs" c="dimmed">
          {words.windowsHint}
        </Text>
      </Stack>
    </Panel>
  )
}
