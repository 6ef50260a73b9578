/** The message as the person sees it. */
import { Text } from '@mantine/core'
import type { FileRef, MessageContent } from '../../../../src/domain/message.ts'
import { MessageBubble, type BubbleFile } from '../../components/message-bubble.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'

const words = text.message

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
    <Panel title={words.content}>
      <MessageBubble
        channel={channel}
        direction="out"
        text={content.kind === 'text' ? content.text : content.preview}
        subject={content.kind === 'text' ? content.subject : undefined}
        isHtml={content.kind === 'text' && content.isHtml}
        files={filesOf(content)}
        buttons={kept?.buttons?.map((button) => button.text)}
        at={message.handedOverAt ?? acceptedAt}
        state={state}
      />
    </Panel>
  )
}

const shownFile = ({ name, mimeType, source }: FileRef): BubbleFile =>
  source.kind === 'stored'
    ? { name, mimeType, size: source.size }
    : { name, mimeType, note: words.filePending }

function filesOf(content: MessageContent): BubbleFile[] {
  if (content.kind === 'text') return content.files.map(shownFile)
  const { header, cards = [] } = content
  return [...(header?.kind === 'media' ? [header.file] : []), ...cards.map(({ file }) => file)].map(shownFile)
}
