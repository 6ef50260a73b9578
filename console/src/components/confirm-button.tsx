/** A button that asks before it does something that cannot be taken back. */
import { Button, Group, Modal, Stack, Text, type ButtonProps } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { text } from '../text/index.ts'
import { IconAction } from './icon-action.tsx'

type ConfirmButtonProps = Omit<ButtonProps, 'onClick'> & {
  /** What the button says; with an icon, its name for screen readers. */
  label: string
  /** An icon button, for rows of a table. */
  icon?: ReactNode
  title: string
  children?: ReactNode
  confirmLabel?: string
  isDangerous?: boolean
  /** The question stays open while this is true. */
  isWorking?: boolean
  /** Closes when it is fulfilled; a rejection leaves the question open. */
  onConfirm(): Promise<unknown> | void
}

export function ConfirmButton({
  label,
  icon,
  title,
  children,
  confirmLabel = label,
  isDangerous = true,
  isWorking = false,
  onConfirm,
  ...button
}: ConfirmButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false)
  const confirm = async () => {
    try {
      await onConfirm()
      close()
    } catch {
      // What went wrong was told where it happened.
    }
  }
  return (
    <>
      {icon ? (
        <IconAction label={label} icon={icon} onClick={open} isDisabled={button.disabled === true} />
      ) : (
        <Button variant="default" {...button} onClick={open}>
          {label}
        </Button>
      )}
      <Modal
        opened={isOpen}
        onClose={close}
        title={title}
        closeButtonProps={{ 'aria-label': text.common.close }}
      >
        <Stack gap="md">
          {children && (
            <Text size="sm" component="div">
              {children}
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close} data-autofocus>
              {text.common.cancel}
            </Button>
            <Button
              color={isDangerous ? 'red.9' : undefined}
              loading={isWorking}
              onClick={() => void confirm()}
            >
              {confirmLabel}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
