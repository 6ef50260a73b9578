/** The message as the person sees it. */
import { Text } from '@mantine/core'
import type { FileRef, MessageContent } from '../../../../src/domain/message.ts'
import { urlOf } from '../../api.ts'
import { MessageBubble, type BubbleFile } from '../../components/message-bubble.tsx'
import type { MessageState } from '../../components/state-badge.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'

const words = text.message

const neverSeen: readonly MessageState[] = ['blocked', 'not_sent', 'failed', 'expired']

export function Content({ message }: { message: MessageDetail }) {
  // As the server stores it; its document only says that it is an object.
  const content = message.content as MessageContent
  const { channel, state, acceptedAt, templateId } = message
  const isOfTemplate = content.kind === 'template' && templateId !== null
  const template = useApiQuery(
    '/templates/:id',
    { path: { id: templateId ?? '' } },
    { isEnabled: isOfTemplate },
  )
  const kept = isOfTemplate ? template.data?.content : undefined
  if (message.recipient === 'erased')
    return (
      <Panel title={words.content}>
        <Text c="dimmed" size="sm">
          {words.contentErased}
        </Text>
      </Panel>
    )
  return (
    <Panel title={neverSeen.includes(state) ? words.contentNotSeen : words.content}>
      <MessageBubble
        channel={channel}
        direction="out"
        text={content.kind === 'text' ? content.text : content.preview}
        subject={content.kind === 'text' ? content.subject : undefined}
        isHtml={content.kind === 'text' && content.isHtml}
        files={filesOf(message.id, content)}
        buttons={kept?.buttons?.map((button) => button.text)}
        at={message.handedOverAt ?? acceptedAt}
        state={state}
      />
    </Panel>
  )
}

/** In the order of the server, which knows each by its place. */
function filesOf(messageId: string, content: MessageContent): BubbleFile[] {
  const files =
    content.kind === 'text'
      ? content.files
      : [
          ...(content.header?.kind === 'media' ? [content.header.file] : []),
          ...(content.cards ?? []).map(({ file }) => file),
        ]
  return files.map(({ name, mimeType, source }: FileRef, position) =>
    source.kind === 'stored'
      ? {
          name,
          mimeType,
          size: source.size,
          href: urlOf('GET /messages/:id/file', { path: { id: messageId }, query: { position } }),
        }
      : { name, mimeType, note: words.filePending },
  )
}
