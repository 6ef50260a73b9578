/** One's own second factor: set up, renew recovery codes, remove. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { IconShieldCheck, IconShieldOff } from '@tabler/icons-react'
import { useState } from 'react'
import { ErrorState } from '../../components/error-state.tsx'
import { FormModal } from '../../components/form-modal.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { RemoveTotpForm, RenewCodes, SetUpTotp } from './totp-steps.tsx'

const words = text.account.totp

export function TotpPanel() {
  const { data, error, refetch } = useApiQuery('/account/totp')
  const [open, setOpen] = useState<'set-up' | 'renew' | 'remove'>()
  const close = () => setOpen(undefined)
  const isSetUp = data?.isSetUp === true
  const few = isSetUp && data.recoveryCodesLeft < 3
  return (
    <Panel
      title={
        <Group gap="xs" component="span">
          {words.title}
          {data && <Tag tone={isSetUp ? 'good' : 'warn'}>{isSetUp ? words.on : words.off}</Tag>}
        </Group>
      }
    >
      {error && <ErrorState error={error} onRetry={refetch} />}
      <Stack gap="sm" align="flex-start">
        <Text size="sm" c="dimmed">
          {isSetUp ? words.onHint : words.offHint}
        </Text>
        {isSetUp && (
          <Text size="sm" c={few ? 'var(--pombo-warn-text)' : undefined}>
            {words.codesLeft(data.recoveryCodesLeft)}
          </Text>
        )}
        {data && !isSetUp && (
          <Button leftSection={<IconShieldCheck size={16} aria-hidden />} onClick={() => setOpen('set-up')}>
            {words.setUp}
          </Button>
        )}
        {isSetUp && (
          <Group gap="xs">
            <Button variant="default" onClick={() => setOpen('renew')}>
              {words.renew}
            </Button>
            <Button
              variant="default"
              leftSection={<IconShieldOff size={16} aria-hidden />}
              onClick={() => setOpen('remove')}
            >
              {words.remove}
            </Button>
          </Group>
        )}
      </Stack>
      <FormModal title={words.setUp} isOpen={open === 'set-up'} onClose={close}>
        <SetUpTotp onDone={close} />
      </FormModal>
      <FormModal title={words.renew} isOpen={open === 'renew'} onClose={close}>
        <RenewCodes onDone={close} />
      </FormModal>
      <FormModal title={words.remove} isOpen={open === 'remove'} onClose={close}>
        <RemoveTotpForm onDone={close} />
      </FormModal>
    </Panel>
  )
}
