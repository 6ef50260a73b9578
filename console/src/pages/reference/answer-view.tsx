import { Group, Stack, Text } from '@mantine/core'
import { AppLink } from '../../components/app-link.tsx'
import { CodeBlock, ExchangeView } from '../../components/json-view.tsx'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import type { TryAnswer } from './request.ts'

const words = text.reference.tryIt

export function AnswerView({ answer, hasSandbox }: { answer: TryAnswer; hasSandbox: boolean }) {
  const { status, tookMs, headers, body, messageId } = answer
  return (
    <Stack gap="xs" role="status">
      <Group gap="sm">
        <Text size="sm" fw={600}>
          {words.response}
        </Text>
        <Tag tone={status < 300 ? 'good' : 'bad'}>{String(status)}</Tag>
        <Text size="sm" c="dimmed">
          {words.took(tookMs)}
        </Text>
        {messageId && (
          <AppLink to="/messages/$id" params={{ id: messageId }} size="sm">
            {words.toMessage}
          </AppLink>
        )}
        {messageId && hasSandbox && (
          <AppLink to="/sandbox" size="sm">
            {words.toSandbox}
          </AppLink>
        )}
      </Group>
      {body === undefined ? (
        <Text size="sm" c="dimmed">
          {words.emptyBody}
        </Text>
      ) : (
        <CodeBlock
          value={typeof body === 'string' ? body : JSON.stringify(body, undefined, 2)}
          label={words.response}
        />
      )}
      <ExchangeView parts={[{ label: text.reference.headers, value: headers }]} />
    </Stack>
  )
}
