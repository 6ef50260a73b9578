/** The draft as its reader sees it, with the sample values: on a phone, or as a mail. */
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import { MailFrame } from '../../components/mail-frame.tsx'
import { MediaPicker } from '../../components/media-picker.tsx'
import { mediaSource } from '../../components/media-thumb.tsx'
import { MessageBubble } from '../../components/message-bubble.tsx'
import { Panel } from '../../components/panel.tsx'
import { text } from '../../text/index.ts'
import { useEditing, type Media } from './editing.ts'
import { fillDraft, type Filled } from './fill.ts'
import classes from './template.module.css'

const words = text.templates

export function Preview() {
  const { template, samples, shape } = useEditing()
  const filled = fillDraft(template, samples)
  return (
    <Panel title={words.preview}>
      <Stack gap="xs" role="region" aria-label={words.previewFrom}>
        {shape.channel === 'email' && <MailPreview filled={filled} />}
        {shape.channel === 'sms' && <SmsPreview filled={filled} />}
        {shape.channel === 'whatsapp' && <WhatsAppPreview filled={filled} />}
      </Stack>
    </Panel>
  )
}

function SmsPreview({ filled }: { filled: Filled }) {
  const { isFlash } = useEditing()
  return (
    <div className={classes['screen']}>
      {isFlash ? (
        <div className={classes['flash']}>
          <Text size="xs" c="dimmed" mb={4}>
            {words.flash}
          </Text>
          {filled.body || words.noTextYet}
        </div>
      ) : (
        <MessageBubble channel="sms" direction="in" text={filled.body || words.noTextYet} />
      )}
    </div>
  )
}

function WhatsAppPreview({ filled }: { filled: Filled }) {
  const { template, samples, draft, sampleFiles, shape } = useEditing()
  const isAuthentication = template.content.provider?.category === 'authentication'
  const { headerKind } = draft
  const hasMediaHeader = shape.kind === 'text' && headerKind !== 'none' && headerKind !== 'text'
  const file = hasMediaHeader ? sampleFiles[0] : undefined
  const minutes = template.content.codeExpiryMinutes
  return (
    <>
      <div className={classes['screen']}>
        <MessageBubble
          channel="whatsapp"
          direction="in"
          heading={filled.header}
          text={
            isAuthentication ? words.codeWords(samples['code'] || '@Code') : filled.body || words.noTextYet
          }
          footnote={isAuthentication ? expiryWords(minutes) : filled.footer}
          buttons={filled.buttons.filter((label) => label !== '')}
          files={
            hasMediaHeader
              ? [file ? { ...file, href: mediaSource(file) } : { name: words.headerKinds[headerKind] }]
              : undefined
          }
        />
        {shape.kind === 'carousel' && (
          // Scrolls sideways, so the keyboard must reach it.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <div className={classes['cards']} tabIndex={0} role="group" aria-label={words.cards}>
            {filled.cards.map((card, at) => (
              <CardPreview key={draft.cards[at]?.key} card={card} file={sampleFiles[at]} />
            ))}
          </div>
        )}
      </div>
      {hasMediaHeader && <SampleFile at={0} kind={headerKind} label={words.chooseSample} />}
      {shape.kind === 'carousel' &&
        draft.cards.map((card, at) => (
          <SampleFile key={card.key} at={at} kind="image" label={words.chooseSampleOf(at + 1)} />
        ))}
    </>
  )
}

const expiryWords = (minutes: number | undefined) =>
  minutes === undefined ? undefined : words.codeExpires(minutes)

function CardPreview({ card, file }: { card: Filled['cards'][number]; file: Media | undefined }) {
  return (
    <div className={classes['card']}>
      <div className={classes['hole']}>
        {file ? (
          <img src={mediaSource(file)} alt={file.name} />
        ) : (
          <IconPhoto size={28} stroke={1.3} aria-hidden />
        )}
      </div>
      {card.body !== '' && (
        <div className={classes['cardText']} dir="auto">
          {card.body}
        </div>
      )}
      <ul className={classes['cardButtons']}>
        {card.buttons.map((label, at) => (
          <li key={`${at} ${label}`}>{label || text.common.none}</li>
        ))}
      </ul>
    </div>
  )
}

type SampleFileProps = { at: number; kind?: 'image' | 'video' | 'document'; label: string }

/** A file for the preview and for tests: real messages bring their own. */
export function SampleFile({ at, kind, label }: SampleFileProps) {
  const { sampleFiles, setSampleFile } = useEditing()
  const [isChoosing, setIsChoosing] = useState(false)
  const file = sampleFiles[at]
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconPhoto size={14} aria-hidden />}
        onClick={() => setIsChoosing(true)}
      >
        {label}
      </Button>
      {file && (
        <Text size="xs" truncate>
          {file.name}
        </Text>
      )}
      <MediaPicker
        isOpen={isChoosing}
        kind={kind}
        onClose={() => setIsChoosing(false)}
        onChoose={(chosen) => setSampleFile(at, chosen)}
      />
    </Group>
  )
}

function MailPreview({ filled }: { filled: Filled }) {
  const [width, setWidth] = useState<'wide' | 'narrow'>('wide')
  const { subject, body, isHtml } = filled
  return (
    <>
      {isHtml && (
        <SegmentedControl
          size="xs"
          aria-label={words.mailWidth}
          data={(['wide', 'narrow'] as const).map((value) => ({ value, label: words.mailWidths[value] }))}
          value={width}
          onChange={(value) => setWidth(value === 'narrow' ? 'narrow' : 'wide')}
        />
      )}
      <div className={classes['mail']} style={{ maxWidth: width === 'narrow' && isHtml ? 320 : undefined }}>
        <div className={classes['mailHead']}>
          <strong>{subject || text.common.none}</strong>
        </div>
        {isHtml ? (
          <MailFrame html={body} title={words.mailFrame} />
        ) : (
          <div className={classes['mailText']} dir="auto">
            {body || words.noTextYet}
          </div>
        )}
      </div>
      {isHtml && (
        <Text size="xs" c="dimmed">
          {words.mailNote}
        </Text>
      )}
    </>
  )
}
