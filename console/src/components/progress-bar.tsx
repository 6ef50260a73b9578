import { Group, Progress, Text } from '@mantine/core'
import { formatPercent } from '../format.ts'

/** How far something is. Without a total it only shows that it goes on. */
export function ProgressBar({
  label,
  done,
  total,
}: {
  label: string
  done: number
  total: number | undefined
}) {
  const share = total ? Math.min(1, done / total) : undefined
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={4}>
        <Text size="sm">{label}</Text>
        {share !== undefined && <Text size="sm">{formatPercent(share)}</Text>}
      </Group>
      <Progress
        value={(share ?? 1) * 100}
        animated={share !== 1}
        striped={share === undefined}
        aria-label={label}
      />
    </div>
  )
}
