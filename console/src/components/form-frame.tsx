/** Around the fields of a form: what went wrong above, the button below. */
import { Alert, Button, Group, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { ApiForm } from '../hooks/use-api-form.ts'
import { text } from '../text/index.ts'

type FormFrameProps = {
  form: ApiForm
  submitLabel?: string
  onCancel?(): void
  /** Beside the button. */
  extra?: ReactNode
  isReadOnly?: boolean
  /** False while there is nothing to send yet. */
  canSubmit?: boolean
  children: ReactNode
}

export function FormFrame(props: FormFrameProps) {
  const { form, submitLabel, onCancel, extra, isReadOnly, canSubmit = true, children } = props
  const sentences = form.alert()
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="sm">
        {sentences && (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert">
            {sentences.map((sentence) => (
              <div key={sentence}>{sentence}</div>
            ))}
          </Alert>
        )}
        {children}
        {!isReadOnly && (
          <Group justify="flex-end" gap="xs" mt="xs">
            {extra}
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                {text.common.cancel}
              </Button>
            )}
            <Button type="submit" loading={form.isSaving} disabled={!canSubmit}>
              {submitLabel ?? text.common.save}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  )
}
