/** What the message says, with the parts that its channel and kind have. */
import { Alert, Button, Group, NumberInput, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconInfoCircle, IconPhoto, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { MediaPicker } from '../../components/media-picker.tsx'
import { Panel } from '../../components/panel.tsx'
import { text } from '../../text/index.ts'
import { ButtonFields } from './button-fields.tsx'
import { newCard, type DraftCard } from './draft.ts'
import { useEditing } from './editing.ts'
import { SmsMeter } from './sms-meter.tsx'
import classes from './template.module.css'
import { TextField } from './text-field.tsx'

const words = text.templates

export function ContentFields() {
  const { shape } = useEditing()
  return (
    <Panel title={words.content}>
      <Stack gap="sm">
        {shape.channel === 'sms' && <SmsFields />}
        {shape.channel === 'email' && <MailFields />}
        {shape.channel === 'whatsapp' && <WhatsAppFields />}
      </Stack>
    </Panel>
  )
}

function SmsFields() {
  const { draft, set } = useEditing()
  return (
    <>
      <TextField
        label={words.body}
        isRequired
        lines={4}
        value={draft.body}
        onChange={(body) => set({ body })}
        paths={['content.body']}
      />
      <SmsMeter />
    </>
  )
}

function MailFields() {
  const { draft, set, isReadOnly, insert } = useEditing()
  const [isChoosing, setIsChoosing] = useState(false)
  return (
    <>
      <TextField
        label={words.subject}
        isRequired
        value={draft.subject}
        onChange={(subject) => set({ subject })}
        paths={['content.subject']}
      />
      <TextField
        label={words.mailBody}
        hint={words.mailBodyHint}
        isRequired
        isCode
        lines={12}
        value={draft.body}
        onChange={(body) => set({ body })}
        paths={['content.body']}
      />
      {!isReadOnly && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPhoto size={14} aria-hidden />}
            onClick={() => setIsChoosing(true)}
          >
            {words.insertPicture}
          </Button>
        </Group>
      )}
      <MediaPicker
        isOpen={isChoosing}
        kind="image"
        onClose={() => setIsChoosing(false)}
        onChoose={({ url, name }) =>
          insert(`<img src="${url}" alt="${name.replace(/[<>"&]/g, '')}" style="max-width: 100%">`)
        }
      />
    </>
  )
}

const headerKinds = ['none', 'text', 'image', 'video', 'document'] as const

function WhatsAppFields() {
  const { draft, set, shape, template } = useEditing()
  const isVerification = shape.kind === 'verification'
  const isAuthentication = isVerification && template.content.provider?.category === 'authentication'
  return (
    <>
      {shape.kind === 'text' && <HeaderField />}
      <TextField
        label={words.body}
        isRequired
        lines={4}
        limit={1024}
        value={draft.body}
        onChange={(body) => set({ body })}
        paths={['content.body']}
      />
      {isAuthentication && (
        <Alert color="pombo" icon={<IconInfoCircle aria-hidden />} c="inherit">
          {words.authenticationNote}
        </Alert>
      )}
      {!isVerification && (
        <TextField
          label={words.footer}
          hint={words.footerHint}
          limit={60}
          value={draft.footer}
          onChange={(footer) => set({ footer })}
          paths={['content.footer']}
        />
      )}
      {isVerification && <ExpiryField />}
      {shape.kind === 'carousel' ? (
        <CardFields />
      ) : (
        <fieldset className={classes['part']}>
          <legend>{words.buttons}</legend>
          <ButtonFields
            buttons={draft.buttons}
            onChange={(buttons) => set({ buttons })}
            path="content.buttons"
            kinds={isVerification ? ['code', 'url'] : ['quick_reply', 'url', 'phone']}
            max={isVerification ? 1 : 10}
          />
        </fieldset>
      )}
    </>
  )
}

function HeaderField() {
  const { draft, set, isReadOnly, errorOf } = useEditing()
  const error = errorOf('content.header.text') ?? errorOf('content.header')
  return (
    <fieldset className={classes['part']}>
      <legend>{words.header}</legend>
      <Stack gap="xs">
        <SegmentedControl
          size="xs"
          aria-label={words.header}
          readOnly={isReadOnly}
          fullWidth
          data={headerKinds.map((value) => ({ value, label: words.headerKinds[value] }))}
          value={draft.headerKind}
          onChange={(headerKind) => set({ headerKind })}
        />
        {draft.headerKind === 'text' && (
          <TextField
            label={words.headerText}
            limit={60}
            value={draft.headerText}
            onChange={(headerText) => set({ headerText })}
            paths={['content.header', 'content.header.text']}
          />
        )}
        {draft.headerKind !== 'text' && draft.headerKind !== 'none' && (
          <Text size="xs" c="dimmed">
            {words.headerMedia}
          </Text>
        )}
        {draft.headerKind !== 'text' && error && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </fieldset>
  )
}

function ExpiryField() {
  const { draft, set, errorOf, isReadOnly } = useEditing()
  return (
    <NumberInput
      label={words.expiry}
      description={words.expiryHint}
      maw={280}
      min={1}
      max={90}
      clampBehavior="none"
      allowDecimal={false}
      readOnly={isReadOnly}
      value={draft.codeExpiryMinutes}
      onChange={(codeExpiryMinutes) => set({ codeExpiryMinutes })}
      error={errorOf('content.codeExpiryMinutes')}
    />
  )
}

function CardFields() {
  const { draft, set, errorOf, isReadOnly } = useEditing()
  const { cards } = draft
  const change = (key: string, changes: Partial<DraftCard>) =>
    set({ cards: cards.map((card) => (card.key === key ? { ...card, ...changes } : card)) })
  const error = errorOf('content.cards')
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {words.cards}
      </Text>
      <Text size="xs" c="dimmed">
        {words.cardsHint}
      </Text>
      {cards.map((card, at) => (
        <CardField
          key={card.key}
          card={card}
          at={at}
          onChange={(changes) => change(card.key, changes)}
          onRemove={() => set({ cards: cards.filter(({ key }) => key !== card.key) })}
        />
      ))}
      {error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      {!isReadOnly && cards.length < 10 && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => set({ cards: [...cards, newCard(cards[0]?.buttons)] })}
          >
            {words.addCard}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type CardFieldProps = {
  card: DraftCard
  at: number
  onChange(changes: Partial<DraftCard>): void
  onRemove(): void
}

function CardField({ card, at, onChange, onRemove }: CardFieldProps) {
  const { errorOf, isReadOnly, draft } = useEditing()
  const path = `content.cards[${at}]`
  const error = errorOf(path)
  return (
    <fieldset className={classes['part']}>
      <legend>{words.cardOf(at + 1)}</legend>
      <Stack gap="xs">
        <TextField
          label={words.cardText}
          limit={160}
          lines={2}
          value={card.body}
          onChange={(body) => onChange({ body })}
          paths={[`${path}.body`]}
        />
        <ButtonFields
          buttons={card.buttons}
          onChange={(buttons) => onChange({ buttons })}
          path={`${path}.buttons`}
          kinds={['quick_reply', 'url', 'phone']}
          max={2}
        />
        {error && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
        {!isReadOnly && draft.cards.length > 2 && (
          <Group justify="flex-end">
            <Button variant="subtle" size="xs" color="gray" onClick={onRemove}>
              {words.removeCard(at + 1)}
            </Button>
          </Group>
        )}
      </Stack>
    </fieldset>
  )
}
