import { Button, Tooltip } from '@mantine/core'
import { IconSend } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { Can } from '../../components/can.tsx'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { useApiMutation } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'

const words = text.message

/** A copy of the message, to which one is led. Offered to those who may, once the message has left. */
export function Resend({ message: { id, state } }: { message: MessageDetail }) {
  const navigate = useNavigate()
  const resend = useApiMutation('POST /messages/:id/resend', {
    success: words.resent,
    onSuccess: ({ messageId }) => void navigate({ to: '/messages/$id', params: { id: messageId } }),
  })
  const icon = <IconSend size={16} aria-hidden />
  if (state === 'queued' || state === 'sending')
    return (
      <Can do="POST /messages/:id/resend">
        <Tooltip label={words.cannotResendYet}>
          <Button variant="default" leftSection={icon} data-disabled aria-disabled>
            {words.resend}
          </Button>
        </Tooltip>
      </Can>
    )
  return (
    <Can do="POST /messages/:id/resend">
      <ConfirmButton
        label={words.resend}
        leftSection={icon}
        title={words.resendTitle}
        isDangerous={false}
        isWorking={resend.isPending}
        onConfirm={() => resend.mutateAsync({ path: { id } })}
      >
        {words.resendHint}
        {state === 'unknown' && <p>{words.resendUnknownHint}</p>}
      </ConfirmButton>
    </Can>
  )
}
