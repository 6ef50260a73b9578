/** Pausing with a reason, and resuming. */
import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { Can } from '../../components/can.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiMutation } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { Line } from './lanes.ts'

const words = text.channels
const alsoStale = ['lanes', 'alerts', 'audit']

type PauseButtonProps = { line: Pick<Line, 'id' | 'name'>; isPaused: boolean; isIcon?: boolean }

export const PauseButton = (props: PauseButtonProps) =>
  props.isPaused ? (
    <Can do="POST /lines/:id/resume">
      <Resume {...props} />
    </Can>
  ) : (
    <Can do="POST /lines/:id/pause">
      <Pause {...props} />
    </Can>
  )

function Resume({ line: { id, name }, isIcon }: PauseButtonProps) {
  const resume = useApiMutation('POST /lines/:id/resume', { success: words.resumed(name), alsoStale })
  const go = () => resume.mutate({ path: { id } })
  const icon = <IconPlayerPlay size={16} aria-hidden />
  if (!isIcon)
    return (
      <Button leftSection={icon} loading={resume.isPending} onClick={go}>
        {words.resume}
      </Button>
    )
  return (
    <Tooltip label={words.resumeOf(name)}>
      <ActionIcon variant="subtle" aria-label={words.resumeOf(name)} loading={resume.isPending} onClick={go}>
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}

function Pause({ line, isIcon }: PauseButtonProps) {
  const [isOpen, setOpen] = useState(false)
  const icon = <IconPlayerPause size={16} aria-hidden />
  return (
    <>
      {isIcon ? (
        <Tooltip label={words.pauseOf(line.name)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={words.pauseOf(line.name)}
            onClick={() => setOpen(true)}
          >
            {icon}
          </ActionIcon>
        </Tooltip>
      ) : (
        <Button variant="default" leftSection={icon} onClick={() => setOpen(true)}>
          {words.pause}
        </Button>
      )}
      <FormModal title={words.pauseTitle(line.name)} isOpen={isOpen} onClose={() => setOpen(false)}>
        <PauseForm line={line} onDone={() => setOpen(false)} />
      </FormModal>
    </>
  )
}

function PauseForm({ line: { id, name }, onDone }: Pick<PauseButtonProps, 'line'> & { onDone(): void }) {
  const form = useApiForm('POST /lines/:id/pause', {
    initial: { reason: '' },
    call: (body) => ({ path: { id }, body }),
    success: words.paused(name),
    alsoStale,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} submitLabel={words.pause} onCancel={onDone}>
      <p>{words.pauseHint}</p>
      <TextInput
        label={words.pauseReason}
        description={words.pauseReasonHint}
        data-autofocus
        {...form.field('reason')}
      />
    </FormFrame>
  )
}
