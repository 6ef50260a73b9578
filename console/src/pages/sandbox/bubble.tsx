/** One message in a conversation: media, header, text, footer, buttons and cards. */
import { Anchor, UnstyledButton } from '@mantine/core'
import {
  IconCheck,
  IconChecks,
  IconClock,
  IconCopy,
  IconCornerUpLeft,
  IconExternalLink,
  IconFile,
  IconPhone,
  IconX,
} from '@tabler/icons-react'
import { urlOf } from '../../api.ts'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import type { ButtonFacts, MediaFacts, SandboxMessage } from './messages.ts'
import { RichText } from './rich-text.tsx'
import classes from './sandbox.module.css'

const words = text.sandbox

const statusIcons = {
  accepted: IconClock,
  sent: IconCheck,
  delivered: IconChecks,
  read: IconChecks,
  failed: IconX,
}
const buttonIcons = {
  quick_reply: IconCornerUpLeft,
  url: IconExternalLink,
  phone_number: IconPhone,
  copy_code: IconCopy,
  other: IconExternalLink,
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

type BubbleProps = {
  message: SandboxMessage
  quoted: string | undefined
  isChosen: boolean
  onChoose(): void
  onPress(button: { index: number; card?: number }): void
}

export function Bubble({ message, quoted, isChosen, onChoose, onPress }: BubbleProps) {
  const { whatsapp, sms, direction, status, channel } = message
  const isOwn = direction === 'fromPerson'
  return (
    <li
      className={classes['bubble']}
      data-own={isOwn || undefined}
      data-failed={status === 'failed' || undefined}
      data-wide={(whatsapp?.cards.length ?? 0) > 0 || undefined}
      data-chosen={isChosen || undefined}
    >
      <div className={classes['paper']}>
        {quoted && <div className={classes['quote']}>{quoted}</div>}
        <Media message={message} media={whatsapp?.media} />
        {whatsapp?.header && <strong className={classes['header']}>{whatsapp.header}</strong>}
        <div className={classes['words']}>
          {channel === 'whatsapp' ? <RichText value={message.text} /> : message.text}
        </div>
        {whatsapp?.footer && <div className={classes['footer']}>{whatsapp.footer}</div>}
        <UnstyledButton className={classes['meta']} onClick={onChoose} aria-pressed={isChosen}>
          {sms?.isFlash && <Tag tone="warn">{words.flash}</Tag>}
          {sms && sms.partsReceived < sms.parts && (
            <Tag tone="bad">{words.parts(sms.partsReceived, sms.parts)}</Tag>
          )}
          <time dateTime={message.receivedAt}>{clock.format(new Date(message.receivedAt))}</time>
          {!isOwn && <Status status={status} />}
        </UnstyledButton>
      </div>
      <Buttons buttons={whatsapp?.buttons} onPress={(index) => onPress({ index })} />
      {whatsapp && whatsapp.cards.length > 0 && (
        <ul className={classes['cards']} tabIndex={0}>
          {whatsapp.cards.map((card, place) => (
            <li key={place} className={classes['card']}>
              <Media message={message} media={card.media} card={place} />
              <div className={classes['words']}>
                <RichText value={card.text} />
              </div>
              <Buttons buttons={card.buttons} onPress={(index) => onPress({ index, card: place })} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function Status({ status }: { status: SandboxMessage['status'] }) {
  const Icon = statusIcons[status]
  return (
    <span className={classes['status']} data-status={status}>
      <Icon size={14} aria-hidden /> {words.statuses[status]}
    </span>
  )
}

type ButtonsProps = { buttons: readonly ButtonFacts[] | undefined; onPress(index: number): void }

function Buttons({ buttons = [], onPress }: ButtonsProps) {
  if (buttons.length === 0) return null
  return (
    <div className={classes['buttons']}>
      {buttons.map((button, index) => {
        const Icon = buttonIcons[button.kind]
        return (
          <UnstyledButton key={index} className={classes['button']} onClick={() => onPress(index)}>
            <Icon size={15} aria-hidden /> {button.text}
          </UnstyledButton>
        )
      })}
    </div>
  )
}

type MediaProps = { message: SandboxMessage; media: MediaFacts | undefined; card?: number }

function Media({ message, media, card }: MediaProps) {
  if (!media) return null
  const name = media.filename ?? media.link ?? media.kind
  if (media.id === undefined)
    return (
      <div className={classes['file']}>
        <IconFile size={16} aria-hidden /> {name}
      </div>
    )
  const source = urlOf('GET /sandbox/messages/:id/file', {
    path: { id: message.id },
    query: { part: 'media', index: card },
  })
  switch (media.kind) {
    case 'image':
    case 'sticker':
      return <img className={classes['media']} src={source} alt={name} loading="lazy" />
    case 'video':
      return (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- what others sent has no captions
        <video className={classes['media']} src={source} controls preload="metadata" aria-label={name} />
      )
    case 'audio':
      return (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- what others sent has no captions
        <audio className={classes['media']} src={source} controls preload="none" aria-label={name} />
      )
    case 'document':
      return (
        <Anchor href={source} className={classes['file']} download={media.filename ?? true}>
          <IconFile size={16} aria-hidden /> {name}
        </Anchor>
      )
  }
}
