/** The words by which people opt out of SMS, and in again. */
import { TagsInput, Text } from '@mantine/core'
import type { AnswerOf } from '../../api.ts'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'

const words = text.restrictionLists

export function StopWords() {
  const { data, error, refetch } = useApiQuery('/company/stop-words')
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return <StopWordsForm own={data} />
}

function StopWordsForm({ own }: { own: AnswerOf<'GET /company/stop-words'> }) {
  const isReadOnly = !useCan()('PUT /company/stop-words')
  const form = useApiForm('PUT /company/stop-words', {
    initial: { stop: own.stop ?? [], start: own.start ?? [] },
    call: (body) => ({ body }),
    success: words.stopSaved,
  })
  const field = (name: 'stop' | 'start') => (
    <TagsInput
      label={words[name]}
      description={`${words.ownHint} ${words.usual(own.usual[name].join(', '))}`}
      placeholder={isReadOnly ? undefined : words.typeWord}
      readOnly={isReadOnly}
      {...form.field(name)}
      acceptValueOnBlur
    />
  )
  return (
    <Panel title={words.stopTitle} maw={760}>
      <FormFrame form={form} isReadOnly={isReadOnly}>
        <Text size="sm">{words.stopHint}</Text>
        {field('stop')}
        {field('start')}
      </FormFrame>
    </Panel>
  )
}
