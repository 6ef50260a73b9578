/** A template that is not saved yet. */
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { Page } from '../../components/page.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { text } from '../../text/index.ts'
import { codeFrom, emptyDraft, providerNameFrom, templateOf, type Draft, type Shape } from './draft.ts'
import type { Kept } from './editing.ts'
import { Editor } from './editor.tsx'

const words = text.templates

type NewTemplateProps = { shape: Shape; initial: Draft; isCopy?: boolean }

export function NewTemplate({ shape: given, initial, isCopy = false }: NewTemplateProps) {
  const navigate = useNavigate()
  const [shape] = useState(given)
  const [first] = useState<Draft>(() =>
    isCopy
      ? { ...initial, code: codeFrom(initial.name), providerName: providerNameFrom(initial.name) }
      : initial,
  )
  // A copy is unsaved work from the beginning.
  const [saved] = useState(() => (isCopy ? emptyDraft(shape) : first))
  const isLeaving = useRef(false)
  const kept = useRef<Kept>(undefined)
  const keep = useCallback((given: Kept) => {
    kept.current = given
  }, [])
  const form = useApiForm('POST /templates', {
    initial: first,
    call: (draft) => ({ body: templateOf(draft, shape) }),
    success: words.created,
    onSuccess: ({ id }) => {
      isLeaving.current = true
      void navigate({ to: '/templates/$id', params: { id }, replace: true, state: { kept: kept.current } })
    },
  })
  return (
    <Page
      title={words.newTitle(words.kinds[shape.kind], text.common.channels[shape.channel])}
      lead={words.kindHints[shape.channel][shape.kind]}
      back={<AppLink to="/templates">{words.back}</AppLink>}
      needs="POST /templates"
    >
      <Editor
        form={form}
        shape={shape}
        initial={saved}
        isNew
        isReadOnly={false}
        onKept={keep}
        isLeaving={() => isLeaving.current}
      />
    </Page>
  )
}
