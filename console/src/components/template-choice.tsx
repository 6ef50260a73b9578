/** Choosing a template that may be sent now, filling its variables, and seeing what will be read. */
import { Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, type ItemOf } from '../api.ts'
import { useApiQuery } from '../queries.ts'
import { text } from '../text/index.ts'
import { MessageBubble } from './message-bubble.tsx'
import type { Channel } from './state-badge.tsx'

const words = text.conversation
type Template = ItemOf<'GET /templates'>

type TemplateChoiceProps = {
  channel: Channel
  code: string
  variables: Record<string, string>
  errorOf(path: string): string | undefined
  onChange(code: string, variables: Record<string, string>): void
}

/** Those with files of their own are left out: there is no place here to give one. */
const isPlain = ({ kind, content }: Template) =>
  kind === 'text' && (!content.header || content.header.kind === 'text')

export function TemplateChoice({ channel, code, variables, errorOf, onChange }: TemplateChoiceProps) {
  const { data, error } = useApiQuery('/templates', {
    query: { channel, approval: 'approved', isEnabled: true, limit: 200, sort: 'name' },
  })
  const templates = (data?.items ?? []).filter(isPlain)
  const chosen = templates.find((template) => template.code === code)
  const names = chosen?.content.variables ?? []
  return (
    <Stack gap="xs">
      <Select
        label={words.template}
        placeholder={words.chooseTemplate}
        searchable
        value={code || null}
        error={errorOf('templateCode') ?? errorOf('template') ?? (error ? words.noTemplates : undefined)}
        description={data && templates.length === 0 ? words.noTemplates : undefined}
        data={templates.map((template) => ({ value: template.code, label: template.name }))}
        onChange={(next) => onChange(next ?? '', {})}
      />
      {names.length > 0 && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
          {names.map((name) => (
            <TextInput
              key={name}
              label={words.variable(name)}
              value={variables[name] ?? ''}
              error={errorOf(`variables.${name}`) ?? errorOf(`variables.@${name}`)}
              onChange={(event) => onChange(code, { ...variables, [name]: event.currentTarget.value })}
            />
          ))}
        </SimpleGrid>
      )}
      {chosen && <Preview template={chosen} variables={variables} />}
    </Stack>
  )
}

/** As the server will render it. */
function Preview({ template, variables }: { template: Template; variables: Record<string, string> }) {
  const [given] = useDebouncedValue(variables, 300)
  const { name, code, channel, kind, content } = template
  const { data } = useQuery({
    queryKey: ['templates', 'preview', template.id, given],
    queryFn: () =>
      api.post('/templates/preview', { body: { name, code, channel, kind, content, variables: given } }),
    placeholderData: keepPreviousData,
  })
  const rendered = data?.rendered as
    | { text?: string; preview?: string; subject?: string; isHtml?: boolean }
    | null
    | undefined
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {words.preview}
      </Text>
      <MessageBubble
        channel={channel}
        direction="out"
        text={rendered?.preview ?? rendered?.text ?? content.body}
        subject={rendered?.subject ?? content.subject ?? undefined}
        isHtml={rendered?.isHtml}
        buttons={content.buttons?.map((button) => button.text)}
      />
    </div>
  )
}
