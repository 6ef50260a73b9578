/** Writes to a contact: free text while WhatsApp's window is open, a template when it is not. Ctrl+Enter sends. */
import {
  Alert,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { IconAlertTriangle, IconClockOff, IconSend } from '@tabler/icons-react'
import type { KeyboardEvent } from 'react'
import type { AnswerOf, BodyOf } from '../api.ts'
import { useApiForm } from '../hooks/use-api-form.ts'
import { useNow } from '../hooks/use-now.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { AppLink } from './app-link.tsx'
import { Can } from './can.tsx'
import type { Channel } from './state-badge.tsx'
import { TemplateChoice } from './template-choice.tsx'
import { isWindowOpen } from './window-clock.tsx'

const words = text.conversation
type Contact = AnswerOf<'GET /contacts/:id'>

const channelsOf = ({ phone, email }: Contact): Channel[] => [
  ...(phone ? (['whatsapp', 'sms'] as const) : []),
  ...(email ? (['email'] as const) : []),
]

type ReplyBoxProps = { contact: Contact; onSent?(): void }

type Draft = {
  channel: Channel
  /** Empty: the server chooses. */
  lineId: string
  prefersTemplate: boolean
  text: string
  subject: string
  templateCode: string
  variables: Record<string, string>
}

const emptyDraft = { prefersTemplate: false, text: '', subject: '', templateCode: '', variables: {} }

/** Free text on WhatsApp needs an open window: of the line that was chosen, or of any. */
const isClosedFor = ({ channel, lineId }: Draft, { windows }: Contact, now: number): boolean =>
  channel === 'whatsapp' &&
  !windows.some((window) => (lineId === '' || window.lineId === lineId) && isWindowOpen(window.closesAt, now))

function bodyOf(draft: Draft, isTemplate: boolean): BodyOf<'POST /contacts/:id/messages'> {
  const { channel, lineId, subject, templateCode, variables } = draft
  return {
    channel,
    ...(lineId !== '' && { lineId }),
    ...(isTemplate ? { templateCode, variables } : { text: draft.text }),
    ...(channel === 'email' && !isTemplate && { subject }),
  }
}

/** Made anew for each contact: give it the contact's id as key, so that no draft goes to somebody else. */
export function ReplyBox({ contact, onSent }: ReplyBoxProps) {
  const channels = channelsOf(contact)
  const now = useNow()
  const mustBeTemplate = (draft: Draft) => isClosedFor(draft, contact, now)
  const initial: Draft = { ...emptyDraft, channel: channels[0] ?? 'sms', lineId: '' }
  const form = useApiForm('POST /contacts/:id/messages', {
    initial,
    call: (draft) => ({
      path: { id: contact.id },
      body: bodyOf(draft, mustBeTemplate(draft) || draft.prefersTemplate),
    }),
    success: words.sent,
    alsoStale: ['attendances', 'messages'],
    onSuccess: () => {
      form.set(emptyDraft)
      onSent?.()
    },
  })
  const { channel, lineId } = form.values
  const isClosed = mustBeTemplate(form.values)
  const isTemplate = isClosed || form.values.prefersTemplate
  if (channels.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {words.noAddress}
      </Text>
    )
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || form.isSaving) return
    event.preventDefault()
    form.submit()
  }
  const canSend = isTemplate ? form.values.templateCode !== '' : form.values.text.trim() !== ''
  return (
    <form onSubmit={form.submit} onKeyDown={onKeyDown} noValidate aria-label={words.reply}>
      <Stack gap="xs">
        <Group gap="xs" align="flex-end">
          <SegmentedControl
            size="xs"
            aria-label={words.channel}
            value={channel}
            data={channels.map((value) => ({ value, label: text.common.channels[value] }))}
            onChange={(value) => form.set({ channel: value, lineId: '', templateCode: '', variables: {} })}
          />
          <SegmentedControl
            size="xs"
            aria-label={words.kind}
            value={isTemplate ? 'template' : 'text'}
            data={[
              { value: 'text', label: words.freeText, disabled: isClosed },
              { value: 'template', label: words.template },
            ]}
            onChange={(value) => form.set({ prefersTemplate: value === 'template' })}
          />
          <LineChoice
            channel={channel}
            anyLabel={channel === 'whatsapp' && !isTemplate ? words.anyLine : words.defaultLine}
            value={lineId}
            error={form.errorOf('lineId')}
            onChange={(value) => form.set({ lineId: value })}
          />
        </Group>
        <Warnings contact={contact} channel={channel} isClosed={isClosed} />
        <Refusal sentences={form.alert()} />
        {isTemplate ? (
          <TemplateChoice
            key={channel}
            channel={channel}
            code={form.values.templateCode}
            variables={form.values.variables}
            errorOf={form.errorOf}
            onChange={(templateCode, variables) => form.set({ templateCode, variables })}
          />
        ) : (
          <>
            {channel === 'email' && <TextInput label={words.subject} {...form.field('subject')} />}
            <Textarea
              label={words.message}
              description={words.messageHint}
              autosize
              minRows={2}
              maxRows={8}
              {...form.field('text')}
            />
          </>
        )}
        <Group justify="flex-end">
          <Button
            type="submit"
            leftSection={<IconSend size={16} aria-hidden />}
            disabled={!canSend}
            loading={form.isSaving}
          >
            {words.send}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

type LineProps = {
  channel: Channel
  anyLabel: string
  value: string
  error: string | undefined
  onChange(value: string): void
}

/** Only where there is something to choose. */
function LineChoice({ channel, anyLabel, value, error, onChange }: LineProps) {
  const { data } = useApiQuery('/lines', { query: { channel, limit: 200 } })
  const lines = (data?.items ?? []).filter(({ isEnabled }) => isEnabled !== false)
  if (lines.length < 2) return null
  return (
    <Select
      size="xs"
      w={260}
      aria-label={words.line}
      value={value}
      error={error}
      data={[{ value: '', label: anyLabel }, ...lines.map(({ id, name }) => ({ value: id, label: name }))]}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  )
}

function Warnings({ contact, channel, isClosed }: { contact: Contact; channel: Channel; isClosed: boolean }) {
  const isOptedOut = contact.optedOutChannels.includes(channel)
  return (
    <>
      {isClosed && (
        <Alert color="yellow" icon={<IconClockOff aria-hidden />} title={words.needsTemplateTitle}>
          {words.needsTemplate}
        </Alert>
      )}
      {isOptedOut && (
        <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
          {words.optedOut(text.common.channels[channel])}
        </Alert>
      )}
      {channel === 'email' && contact.emailBouncedAt && (
        <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
          {words.bounced}
        </Alert>
      )}
    </>
  )
}

function Refusal({ sentences }: { sentences: string[] | undefined }) {
  if (sentences === undefined) return null
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={words.refusedTitle} role="alert">
      {sentences.map((sentence) => (
        <div key={sentence}>{sentence}</div>
      ))}
      <Can do="GET /rules">
        <AppLink to="/rules" size="sm">
          {words.toRules}
        </AppLink>
      </Can>
    </Alert>
  )
}
