import { PasswordInput, Text } from '@mantine/core'
import { FormFrame } from '../../components/form-frame.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { text } from '../../text/index.ts'

const words = text.account.password
const empty = { currentPassword: '', newPassword: '' }

export function PasswordPanel() {
  const form = useApiForm('POST /account/password', {
    initial: empty,
    call: (values) => ({ body: values }),
    success: words.changed,
    onSuccess: () => form.reset(empty),
  })
  return (
    <Panel title={words.title}>
      <Text size="sm" c="dimmed" mb="sm">
        {words.hint}
      </Text>
      <FormFrame form={form} submitLabel={words.change}>
        <PasswordInput
          label={words.current}
          required
          autoComplete="current-password"
          {...form.field('currentPassword')}
        />
        <PasswordInput
          label={words.next}
          description={words.nextHint}
          required
          autoComplete="new-password"
          {...form.field('newPassword')}
        />
      </FormFrame>
    </Panel>
  )
}
