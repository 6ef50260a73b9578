/** A request to write, send and look at. */
import {
  Alert,
  Button,
  CopyButton,
  Group,
  PasswordInput,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
} from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconSend } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { CodeBlock } from '../../components/json-view.tsx'
import { useApiMutation } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import { suggestPassword } from '../users/roles.ts'
import { AnswerView } from './answer-view.tsx'
import type { OperationProps } from './operation.tsx'
import classes from './reference.module.css'
import { curlOf, isJson, send, type TryAnswer, type TryRequest } from './request.ts'
import { samplesOf } from './samples.ts'

const words = text.reference.tryIt
const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2)

export function TryIt({ api, shown, url, isHere, facts, token, onToken }: OperationProps) {
  const { method, path, operation } = shown
  const isLogin = operation.security.length === 0
  const samples = useMemo(
    () => samplesOf(api, path, operation.requestBody?.content['application/json'].example, facts),
    [api, path, operation, facts],
  )
  const [sample, setSample] = useState(0)
  const [body, setBody] = useState(() => pretty(samples[0]?.body))
  const [isDryRun, setIsDryRun] = useState(false)
  const [answer, setAnswer] = useState<TryAnswer | 'none'>()
  const [isSending, setIsSending] = useState(false)
  const request: TryRequest = { method, path, token: isLogin ? '' : token, isDryRun, body }
  const isReady = isJson(body)

  const submit = async () => {
    setIsSending(true)
    try {
      const got = await send(request)
      setAnswer(got)
      const given = (got.body as { access_token?: unknown } | undefined)?.access_token
      if (isLogin && typeof given === 'string') {
        onToken(given)
        notifications.show({ message: words.remembered, color: 'green' })
      }
    } catch {
      setAnswer('none')
    } finally {
      setIsSending(false)
    }
  }

  return (
    <div className={classes['tryIt']}>
      <Text fw={600} mb="xs">
        {words.title}
      </Text>
      <Stack gap="sm">
        {samples.length > 1 && (
          <Select
            label={words.sample}
            data={samples.map(({ label }, index) => ({ value: String(index), label }))}
            value={String(sample)}
            onChange={(next) => {
              setSample(Number(next))
              setBody(pretty(keepingToken(samples[Number(next)]?.body, body)))
            }}
          />
        )}
        {!isLogin && (
          <PasswordInput
            label={words.token}
            description={api === 'unified' ? words.tokenHintUnified : words.tokenHintDirect}
            value={token}
            autoComplete="off"
            onChange={(event) => onToken(event.currentTarget.value.trim())}
          />
        )}
        <Textarea
          label={words.json}
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
          error={isReady ? undefined : words.jsonWrong}
          autosize
          minRows={5}
          maxRows={22}
          spellCheck={false}
          classNames={{ input: classes['json'] }}
        />
        <Helpers api={api} isLogin={isLogin} body={body} onBody={setBody} onToken={onToken} />
        {!isLogin && (
          <Switch
            label={words.dryRun}
            checked={isDryRun}
            onChange={(event) => setIsDryRun(event.currentTarget.checked)}
          />
        )}
        {isHere ? (
          <Group>
            <Button
              leftSection={<IconSend size={16} aria-hidden />}
              disabled={!isReady}
              loading={isSending}
              onClick={() => void submit()}
            >
              {words.send}
            </Button>
          </Group>
        ) : (
          <Alert color="yellow">{words.elsewhere(url)}</Alert>
        )}
        <details className={classes['fold']}>
          <summary>{words.curl}</summary>
          <CodeBlock value={curlOf(request, url)} label={`${words.curl}: ${path}`} />
          <CopyButton value={curlOf(request, url)}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" mt={6} onClick={copy}>
                {copied ? words.copied : words.copyCurl}
              </Button>
            )}
          </CopyButton>
        </details>
        {answer === 'none' && (
          <Alert color="red" role="alert">
            {words.noAnswer}
          </Alert>
        )}
        {answer && answer !== 'none' && (
          <AnswerView answer={answer} hasSandbox={facts.catcherUrl !== undefined} />
        )}
      </Stack>
    </div>
  )
}

/** Another sample does not lose the private token that was filled in. */
function keepingToken(next: unknown, written: string): unknown {
  const kept = isJson(written)
    ? (JSON.parse(written) as Record<string, unknown>)['platformPrivateToken']
    : undefined
  return kept === undefined ? next : { ...(next as object), platformPrivateToken: kept }
}

type HelpersProps = {
  api: OperationProps['api']
  isLogin: boolean
  body: string
  onBody(body: string): void
  onToken(token: string): void
}

/** What an administrator would otherwise fetch from other pages. */
function Helpers({ api, isLogin, body, onBody, onToken }: HelpersProps) {
  const can = useCan()
  const show = useApiMutation('POST /company/private-token/show', { success: words.filled })
  const generate = useApiMutation('POST /direct-tokens', { success: words.generated })
  const createUser = useApiMutation('POST /users', { success: ({ name }) => words.userCreated(name) })
  const fill = (values: Record<string, unknown>) =>
    isJson(body) && onBody(pretty({ ...(JSON.parse(body) as object), ...values }))
  if (isLogin)
    return can('POST /users') ? (
      <Helper
        label={words.createUser}
        isWorking={createUser.isPending}
        onClick={() => {
          const password = suggestPassword()
          const name = `try-it-${password.slice(0, 5).toLowerCase()}`
          createUser.mutate(
            { body: { name, role: 'api', password } },
            { onSuccess: () => fill({ Username: name, Password: password }) },
          )
        }}
      />
    ) : null
  if (api === 'unified')
    return can('POST /company/private-token/show') ? (
      <Helper
        label={words.fillPrivate}
        isWorking={show.isPending}
        onClick={() =>
          show.mutate({}, { onSuccess: ({ data }) => fill({ platformPrivateToken: data.privateToken }) })
        }
      />
    ) : null
  return can('POST /direct-tokens') ? (
    <Helper
      label={words.generate}
      isWorking={generate.isPending}
      onClick={() =>
        generate.mutate({ body: { name: words.tokenName } }, { onSuccess: ({ data }) => onToken(data.token) })
      }
    />
  ) : null
}

const Helper = ({ label, isWorking, onClick }: { label: string; isWorking: boolean; onClick(): void }) => (
  <Group>
    <Button size="xs" variant="default" loading={isWorking} onClick={onClick}>
      {label}
    </Button>
  </Group>
)
