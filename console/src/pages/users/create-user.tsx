/** A new user, and what has to be told to whoever will use it. */
import { Alert, Button, Group, Select, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { CodeBlock } from '../../components/json-view.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { useSession } from '../../session.ts'
import { text } from '../../text/index.ts'
import { NameInput, PasswordField } from './fields.tsx'
import { roleOptions, type UserRole } from './roles.ts'
import classes from './users.module.css'

const words = text.users

const empty: { name: string; role: UserRole; password: string } = {
  name: '',
  role: 'attendant',
  password: '',
}

type Credentials = { name: string; password: string; role: UserRole }

export function CreateUser({ onDone }: { onDone(): void }) {
  const [created, setCreated] = useState<Credentials>()
  if (created) return <ShowCredentials {...created} onDone={onDone} />
  return <CreateForm onCreated={setCreated} onCancel={onDone} />
}

function CreateForm({ onCreated, onCancel }: { onCreated(made: Credentials): void; onCancel(): void }) {
  const form = useApiForm('POST /users', {
    initial: empty,
    call: (values) => ({ body: values }),
    success: words.created,
    onSuccess: ({ name, role }) => onCreated({ name, role, password: form.values.password }),
  })
  return (
    <FormFrame form={form} submitLabel={text.common.create} onCancel={onCancel}>
      <NameInput {...form.field('name')} />
      <Select
        label={words.role}
        description={words.roleHints[form.values.role]}
        data={roleOptions}
        {...form.field('role')}
      />
      <PasswordField {...form.field('password')} onSuggest={(password) => form.set({ password })} />
    </FormFrame>
  )
}

function ShowCredentials({ name, password, role, onDone }: Credentials & { onDone(): void }) {
  const company = useSession().company.name ?? ''
  const rows = [
    [words.credentials.company, company],
    [words.credentials.username, name],
    [words.credentials.password, password],
  ] as const
  return (
    <Stack gap="sm">
      <Alert color="yellow" icon={<IconKey aria-hidden />} title={words.credentials.title} role="status">
        <dl className={classes['facts']}>
          {rows.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <CopyText value={value} />
              </dd>
            </div>
          ))}
        </dl>
        <Text size="sm" mt={4}>
          {words.credentials.hint}
        </Text>
      </Alert>
      {role === 'api' ? (
        <ForPrograms company={company} name={name} />
      ) : (
        <Text size="sm">{words.credentials.console}</Text>
      )}
      <Group justify="flex-end">
        <Button onClick={onDone}>{words.credentials.done}</Button>
      </Group>
    </Stack>
  )
}

function ForPrograms({ company, name }: { company: string; name: string }) {
  const { data } = useApiQuery('/apis')
  const body = JSON.stringify({ Company: company, Username: name, Password: '…' })
  return (
    <>
      <Text size="sm">{words.credentials.api}</Text>
      <CodeBlock
        label={words.credentials.api}
        value={`curl ${data?.unified.url ?? ''}/v1/login \\\n  -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", String.raw`'\''`)}'`}
      />
      <Text size="sm">
        {words.credentials.andToken}{' '}
        <AppLink to="/settings/account" underline="always" inherit>
          {words.credentials.toAccount}
        </AppLink>
      </Text>
    </>
  )
}
