import { Modal, type ModalProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { text } from '../text/index.ts'

type FormModalProps = Pick<ModalProps, 'size'> & {
  title: string
  isOpen: boolean
  onClose(): void
  /** Made anew at each opening, so that a form starts fresh. */
  children: ReactNode
}

export const FormModal = ({ title, isOpen, onClose, size, children }: FormModalProps) => (
  <Modal
    opened={isOpen}
    onClose={onClose}
    title={title}
    size={size}
    closeButtonProps={{ 'aria-label': text.common.close }}
  >
    {isOpen && children}
  </Modal>
)
