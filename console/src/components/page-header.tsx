import { Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type PageHeaderProps = { title: string; lead?: ReactNode; back?: ReactNode; actions?: ReactNode }

export function PageHeader({ title, lead, back, actions }: PageHeaderProps) {
  return (
    <Group justify="space-between" align="flex-end" gap="sm">
      <div style={{ minWidth: 0 }}>
        {back && <Text size="sm">{back}</Text>}
        <Title order={1} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {lead && (
          <Text c="dimmed" size="sm" maw={720} component="div">
            {lead}
          </Text>
        )}
      </div>
      {actions && <Group gap="xs">{actions}</Group>}
    </Group>
  )
}
