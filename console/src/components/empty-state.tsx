import { Stack, Text, Title } from '@mantine/core'
import { IconFeather, type Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'

type EmptyStateProps = { title: string; hint?: ReactNode; action?: ReactNode; icon?: Icon }

export function EmptyState({ title, hint, action, icon: Icon = IconFeather }: EmptyStateProps) {
  return (
    <Stack align="center" gap="xs" py={48} px="md" ta="center">
      <Icon size={36} stroke={1.3} color="var(--mantine-color-dimmed)" aria-hidden />
      <Title order={2}>{title}</Title>
      {hint && (
        <Text c="dimmed" size="sm" maw={460}>
          {hint}
        </Text>
      )}
      {action}
    </Stack>
  )
}
