/** The door: company, user, password, and a code where a second factor is set up. */
import { Alert, Anchor, Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type FormEvent } from 'react'
import { api, ApiError } from '../api.ts'
import { explain } from '../explain.ts'
import { Logo } from '../layout/logo.tsx'
import { text } from '../text/index.ts'
import classes from './sign-in.module.css'

const words = text.signIn
const empty = { company: '', username: '', password: '', code: '' }
type Fields = typeof empty
type Wrong = Partial<Record<keyof Fields | 'form', string>>

const lastKey = 'pombo-last-sign-in'

/** Company and user of the last time; never the password. */
function remembered(): Pick<Fields, 'company' | 'username'> {
  try {
    return { company: '', username: '', ...(JSON.parse(localStorage.getItem(lastKey) ?? '{}') as object) }
  } catch {
    return { company: '', username: '' }
  }
}

function remember({ company, username }: Fields): void {
  try {
    localStorage.setItem(lastKey, JSON.stringify({ company, username }))
  } catch {
    // Storage is switched off: they will be typed again.
  }
}

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' })
  const router = useRouter()
  const client = useQueryClient()
  const [fields, setFields] = useState<Fields>(() => ({ ...empty, ...remembered() }))
  const [wrong, setWrong] = useState<Wrong>({})
  const [step, setStep] = useState<'password' | 'code'>('password')
  const [isWorking, setIsWorking] = useState(false)
  useEffect(() => {
    document.title = `${words.title} · ${text.common.product}`
  }, [])

  const bind = (name: keyof Fields) => ({
    name,
    value: fields[name],
    error: wrong[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget
      setFields((before) => ({ ...before, [name]: value }))
      setWrong((before) => ({ ...before, [name]: undefined, form: undefined }))
    },
  })

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const missing = missingIn(fields, step)
    setWrong(missing)
    if (Object.keys(missing).length > 0) return
    setIsWorking(true)
    try {
      const { code, ...rest } = fields
      await api.post('/session', { body: step === 'code' ? { ...rest, code: code.trim() } : rest })
      remember(fields)
      client.clear()
      router.history.push(isOwnPath(to) ? to : '/')
    } catch (error) {
      const found = readRefusal(error as Error, step)
      if (found === 'code') setStep('code')
      else setWrong(found)
    } finally {
      setIsWorking(false)
    }
  }

  return (
    <main className={classes['page']}>
      <Paper className={classes['box']} p="xl" radius="md">
        <form onSubmit={(event) => void submit(event)} noValidate>
          <Stack gap="md">
            <div className={classes['head']}>
              <Logo size={40} />
              <div>
                <Title order={1}>{step === 'code' ? words.codeTitle : text.common.product}</Title>
                <Text c="dimmed" size="sm">
                  {step === 'code' ? words.codeHint : words.lead}
                </Text>
              </div>
            </div>
            {wrong.form && (
              <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert">
                {wrong.form}
              </Alert>
            )}
            {step === 'password' ? (
              <>
                <TextInput
                  label={words.company}
                  autoComplete="organization"
                  autoFocus={fields.company === ''}
                  {...bind('company')}
                />
                <TextInput label={words.username} autoComplete="username" {...bind('username')} />
                <PasswordInput
                  label={words.password}
                  autoComplete="current-password"
                  autoFocus={fields.company !== ''}
                  {...bind('password')}
                />
                <Button type="submit" size="md" loading={isWorking} fullWidth>
                  {words.submit}
                </Button>
                <Text size="xs" c="dimmed">
                  {words.firstTime}
                </Text>
              </>
            ) : (
              <>
                <TextInput
                  label={words.code}
                  autoComplete="one-time-code"
                  inputMode="text"
                  autoFocus
                  {...bind('code')}
                />
                <Button type="submit" size="md" loading={isWorking} fullWidth>
                  {words.confirm}
                </Button>
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  onClick={() => {
                    setStep('password')
                    setFields((before) => ({ ...before, code: '' }))
                    setWrong({})
                  }}
                >
                  {words.back}
                </Anchor>
              </>
            )}
          </Stack>
        </form>
      </Paper>
    </main>
  )
}

function missingIn(fields: Fields, step: 'password' | 'code'): Wrong {
  const asked = step === 'code' ? (['code'] as const) : (['company', 'username', 'password'] as const)
  return Object.fromEntries(
    asked.filter((name) => fields[name].trim() === '').map((name) => [name, words.missing]),
  )
}

/** `code`: the password was right, and a code is asked for. */
function readRefusal(error: Error, step: 'password' | 'code'): Wrong | 'code' {
  if (!(error instanceof ApiError)) return { form: explain(error) }
  if (error.status === 401 && error.errors['code'])
    return step === 'code' ? { code: words.wrongCode } : 'code'
  if (error.status === 401) return step === 'code' ? { code: words.wrongCode } : { form: words.wrong }
  if (error.status !== 400) return { form: explain(error) }
  return Object.fromEntries(
    Object.entries(error.errors).map(([name, sentences]) => [name, sentences.join('; ')]),
  )
}

/** Only to a page of ours: an address may have been put there by somebody else. */
const isOwnPath = (to: string | undefined): to is string =>
  to !== undefined && /^\/(?![/\\])/.test(to) && !to.startsWith('/sign-in')
