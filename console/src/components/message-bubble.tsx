/** One message as its reader sees it: a bubble for WhatsApp and SMS, a letter for e-mail. Always text, never markup. */
import { Anchor } from '@mantine/core'
import {
  IconAlertTriangle,
  IconCheck,
  IconChecks,
  IconClock,
  IconFile,
  IconMusic,
  IconVideo,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { formatBytes } from '../format.ts'
import { text } from '../text/index.ts'
import { Instant } from './instant.tsx'
import classes from './message-bubble.module.css'
import type { Channel, MessageState } from './state-badge.tsx'

const words = text.conversation

export type BubbleFile = {
  name: string
  mimeType?: string
  size?: number | null
  /** Of this server; without one only the name is shown. */
  href?: string | undefined
  /** Why it cannot be opened, if so. */
  note?: string
}

export type MessageBubbleProps = {
  channel: Channel
  /** Ours is on the right, theirs on the left. */
  direction: 'in' | 'out'
  text: string
  /** Of an e-mail. */
  subject?: string | undefined
  /** The text is HTML of an e-mail: shown in a frame that runs nothing and loads nothing. */
  isHtml?: boolean | undefined
  /** Above the text, in bold: the header of a template. */
  heading?: string | undefined
  /** Below the text, small: the footer of a template. */
  footnote?: string | undefined
  /** What the buttons of a template say. */
  buttons?: readonly string[] | undefined
  files?: readonly BubbleFile[] | undefined
  at?: string | undefined
  /** Who wrote it, for people. */
  author?: string | undefined
  state?: MessageState | undefined
  /** Below the bubble: a link, why it failed. */
  children?: ReactNode
}

export function MessageBubble(props: MessageBubbleProps) {
  const { channel, direction, subject, heading, footnote, buttons = [], files = [] } = props
  const name = text.common.channels[channel]
  return (
    <article
      className={classes['row']}
      data-direction={direction}
      data-channel={channel}
      aria-label={direction === 'out' ? words.sentByUs(name) : words.received(name)}
    >
      <div className={classes['bubble']}>
        {channel === 'email' && (
          <div className={classes['subject']}>
            <span className={classes['subjectLabel']}>{words.subject}</span> {subject || text.common.none}
          </div>
        )}
        {files.map((file, index) => (
          <FileView key={`${index} ${file.name}`} file={file} />
        ))}
        {heading && <div className={classes['heading']}>{heading}</div>}
        <Content {...props} />
        {footnote && <div className={classes['footnote']}>{footnote}</div>}
        <Foot {...props} />
        {buttons.length > 0 && (
          <ul className={classes['buttons']}>
            {buttons.map((label, index) => (
              <li key={`${index} ${label}`}>{label}</li>
            ))}
          </ul>
        )}
      </div>
      {props.children && <div className={classes['below']}>{props.children}</div>}
    </article>
  )
}

function Content({ text: content, isHtml, files = [] }: MessageBubbleProps) {
  if (isHtml)
    return <iframe className={classes['mail']} sandbox="" srcDoc={content} title={words.mailContent} />
  if (content === '')
    return files.length > 0 ? null : <div className={classes['nothing']}>{words.noText}</div>
  return (
    <div className={classes['text']} dir="auto">
      {content}
    </div>
  )
}

function FileView({ file }: { file: BubbleFile }) {
  const { name, mimeType = '', size, href, note } = file
  if (href !== undefined && /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType))
    return (
      <a href={href} target="_blank" rel="noreferrer" className={classes['picture']}>
        <img src={href} alt={name} loading="lazy" />
      </a>
    )
  const Icon = mimeType.startsWith('video/')
    ? IconVideo
    : mimeType.startsWith('audio/')
      ? IconMusic
      : IconFile
  const rest = [size ? formatBytes(size) : '', note ?? ''].filter((part) => part !== '').join(' · ')
  return (
    <div className={classes['file']}>
      <Icon size={18} aria-hidden />
      <span className={classes['fileName']}>
        {href === undefined ? (
          name
        ) : (
          <Anchor href={href} target="_blank" rel="noreferrer" inherit>
            {name}
          </Anchor>
        )}
      </span>
      {rest !== '' && <span className={classes['fileNote']}>{rest}</span>}
    </div>
  )
}

const stateIcons: Record<MessageState, typeof IconCheck> = {
  queued: IconClock,
  sending: IconClock,
  sent: IconCheck,
  delivered: IconChecks,
  read: IconChecks,
  failed: IconAlertTriangle,
  expired: IconAlertTriangle,
  unknown: IconAlertTriangle,
  blocked: IconAlertTriangle,
  not_sent: IconAlertTriangle,
}

function Foot({ author, at, state }: MessageBubbleProps) {
  if (author === undefined && at === undefined && state === undefined) return null
  const Icon = state && stateIcons[state]
  return (
    <div className={classes['foot']}>
      {author !== undefined && <span>{author}</span>}
      {at !== undefined && <Instant at={at} as="short" />}
      {Icon && (
        <span className={classes['state']} data-state={state}>
          <Icon size={15} aria-hidden /> {text.common.states[state]}
        </span>
      )}
    </div>
  )
}
