import { AppLink } from '../../components/app-link.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { Tag, type Tone } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import type { CallbackItem } from './next-try.ts'

const tones: Record<CallbackItem['state'], Tone> = { waiting: 'info', delivered: 'good', given_up: 'bad' }

export const CallbackState = ({ state }: { state: CallbackItem['state'] }) => (
  <Tag tone={tones[state]}>{text.callbacks.states[state]}</Tag>
)

/** Received messages have no page of their own. */
export const MessageOf = ({ messageId }: { messageId: string }) =>
  messageId.startsWith('msg_') ? (
    <AppLink to="/messages/$id" params={{ id: messageId }} size="sm" ff="monospace">
      {`${messageId.slice(0, 12)}…${messageId.slice(-4)}`}
    </AppLink>
  ) : (
    <CopyText value={messageId} short={16} />
  )
