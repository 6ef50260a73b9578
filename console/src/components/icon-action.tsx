/** A quiet button of one icon, with its name as a tooltip and for screen readers: for rows and small parts. */
import { ActionIcon, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'

type IconActionProps = { label: string; icon: ReactNode; onClick(): void; isDisabled?: boolean }

export const IconAction = ({ label, icon, onClick, isDisabled = false }: IconActionProps) => (
  <Tooltip label={label}>
    <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={isDisabled} onClick={onClick}>
      {icon}
    </ActionIcon>
  </Tooltip>
)
