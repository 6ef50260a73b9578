/** A person writes first. */
import { SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { FormFrame } from '../../components/form-frame.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.sandbox.writeForm
type Values = { channel: 'sms' | 'whatsapp'; from: string; to: string; text: string }
const empty: Values = { channel: 'whatsapp', from: '5531999990001', to: '', text: '' }

export function WriteForm({ onDone }: { onDone(): void }) {
  const lines = useApiQuery('/lines', { query: { limit: 200 } })
  const form = useApiForm('POST /sandbox/answers', {
    initial: empty,
    call: (values) => ({ body: { ...values, from: values.from.replaceAll(/\D/g, '') } }),
    success: words.sent,
    onSuccess: onDone,
  })
  const numbers = (lines.data?.items ?? [])
    .filter(({ channel }) => channel === form.values.channel)
    .map((line) => ({ value: numberOf(line), label: `${line.name} (${numberOf(line)})` }))
  return (
    <FormFrame form={form} submitLabel={text.sandbox.send} onCancel={onDone}>
      <SegmentedControl
        aria-label={words.channel}
        value={form.values.channel}
        onChange={(channel) => form.set({ channel, to: '' })}
        data={[
          { value: 'whatsapp', label: text.common.channels.whatsapp },
          { value: 'sms', label: text.common.channels.sms },
        ]}
      />
      <TextInput
        label={words.from}
        description={words.fromHint}
        required
        inputMode="tel"
        {...form.field('from')}
      />
      <Select label={words.to} description={words.toHint} required data={numbers} {...form.field('to')} />
      <Textarea label={words.text} required autosize minRows={2} data-autofocus {...form.field('text')} />
    </FormFrame>
  )
}

const numberOf = (line: { countryCode?: number | null; phoneNumber?: number | null }): string =>
  `${line.countryCode ?? ''}${line.phoneNumber ?? ''}`
