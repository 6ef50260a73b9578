/** A quiet box with an optional heading. */
import { Group, Paper, Title, type PaperProps } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './panel.module.css'

type PanelProps = PaperProps & { title?: ReactNode; actions?: ReactNode; children: ReactNode }

export function Panel({ title, actions, children, ...rest }: PanelProps) {
  return (
    <Paper className={classes['panel']} p="md" {...rest}>
      {(title || actions) && (
        <Group justify="space-between" mb="sm" gap="xs">
          <Title order={2}>{title}</Title>
          {actions}
        </Group>
      )}
      {children}
    </Paper>
  )
}
