import { Text } from '@mantine/core'
import { Instant } from '../../components/instant.tsx'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import { healthOf, type Lane, type Line } from './lanes.ts'

const words = text.channels

/** Whether a line works, and if not, why, in words. */
export function HealthTag({ line, lane }: { line: Line; lane: Lane | undefined }) {
  const { tone, label, detail, until } = healthOf(line, lane)
  return (
    <div>
      <Tag tone={tone}>{label}</Tag>
      {detail !== '' && (
        <Text size="xs" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
          {detail}
          {until && (
            <>
              {' '}
              {words.goesOn} <Instant at={until} />.
            </>
          )}
        </Text>
      )}
    </div>
  )
}
