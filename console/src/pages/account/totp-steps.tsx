/** Password, key, first code, recovery codes: one step after another. */
import {
  Alert,
  Anchor,
  Button,
  CopyButton,
  Group,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import type { AnswerOf } from '../../api.ts'
import { CopyText } from '../../components/copy-text.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { text } from '../../text/index.ts'
import classes from './totp.module.css'

const words = text.account.totp
type Begun = AnswerOf<'POST /account/totp'>

export function SetUpTotp({ onDone }: { onDone(): void }) {
  const [begun, setBegun] = useState<Begun>()
  const [codes, setCodes] = useState<string[]>()
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />
  if (begun) return <ConfirmForm begun={begun} onConfirmed={setCodes} />
  return <BeginForm onBegun={setBegun} />
}

function BeginForm({ onBegun }: { onBegun(begun: Begun): void }) {
  const form = useApiForm('POST /account/totp', {
    initial: { currentPassword: '' },
    call: (values) => ({ body: values }),
    success: () => '',
    onSuccess: onBegun,
  })
  return (
    <FormFrame form={form} submitLabel={words.begin}>
      <Text size="sm">{words.passwordFirst}</Text>
      <PasswordInput
        label={text.account.password.current}
        required
        data-autofocus
        autoComplete="current-password"
        {...form.field('currentPassword')}
      />
    </FormFrame>
  )
}

/** Groups of four are easier to type. */
const grouped = (secret: string): string => secret.replaceAll(/(.{4})(?=.)/g, '$1 ')

function ConfirmForm({ begun, onConfirmed }: { begun: Begun; onConfirmed(codes: string[]): void }) {
  const form = useApiForm('PUT /account/totp', {
    initial: { code: '' },
    call: (values) => ({ body: values }),
    success: words.confirmed,
    onSuccess: ({ recoveryCodes }) => onConfirmed(recoveryCodes),
  })
  return (
    <FormFrame form={form} submitLabel={words.confirm}>
      <Text size="sm">{words.scan}</Text>
      <div>
        <Text size="sm" fw={600}>
          {words.key}
        </Text>
        <div className={classes['key']}>
          <CopyText value={grouped(begun.secret)} />
        </div>
        <Text size="xs" c="dimmed">
          {words.keyHint}
        </Text>
      </div>
      <Anchor href={begun.url} size="sm">
        {words.openApp}
      </Anchor>
      <details className={classes['address']}>
        <summary>{words.address}</summary>
        <CopyText value={begun.url} />
      </details>
      <TextInput
        label={words.code}
        description={words.codeHint}
        required
        data-autofocus
        inputMode="numeric"
        autoComplete="one-time-code"
        {...form.field('code')}
      />
    </FormFrame>
  )
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone(): void }) {
  return (
    <Stack gap="sm">
      <Alert color="yellow" icon={<IconKey aria-hidden />} title={words.codes} role="status">
        <Text size="sm">{words.codesHint}</Text>
        <ul className={classes['codes']}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
      </Alert>
      <Group justify="flex-end" gap="xs">
        <CopyButton value={codes.join('\n')}>
          {({ copied, copy }) => (
            <Button variant="default" onClick={copy}>
              {copied ? words.copied : words.copyAll}
            </Button>
          )}
        </CopyButton>
        <Button onClick={onDone}>{words.done}</Button>
      </Group>
    </Stack>
  )
}

export function RenewCodes({ onDone }: { onDone(): void }) {
  const [codes, setCodes] = useState<string[]>()
  const form = useApiForm('POST /account/recovery-codes', {
    initial: { currentPassword: '' },
    call: (values) => ({ body: values }),
    success: words.codesRenewed,
    onSuccess: ({ recoveryCodes }) => setCodes(recoveryCodes),
  })
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />
  return (
    <FormFrame form={form} submitLabel={words.getCodes} onCancel={onDone}>
      <Text size="sm">{words.renewHint}</Text>
      <PasswordInput
        label={text.account.password.current}
        required
        data-autofocus
        autoComplete="current-password"
        {...form.field('currentPassword')}
      />
    </FormFrame>
  )
}

export function RemoveTotpForm({ onDone }: { onDone(): void }) {
  const form = useApiForm('POST /account/totp/remove', {
    initial: { currentPassword: '', code: '' },
    call: (values) => ({ body: values }),
    success: words.removed,
    onSuccess: onDone,
  })
  return (
    <FormFrame form={form} submitLabel={words.remove} onCancel={onDone}>
      <Text size="sm">{words.removeHint}</Text>
      <PasswordInput
        label={text.account.password.current}
        required
        data-autofocus
        autoComplete="current-password"
        {...form.field('currentPassword')}
      />
      <TextInput label={words.removeCode} required autoComplete="one-time-code" {...form.field('code')} />
    </FormFrame>
  )
}
