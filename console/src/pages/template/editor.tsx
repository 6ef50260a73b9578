/** The form of a template and, beside it, what it will look like. */
import { Alert, Stack } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useBlocker, useLocation } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { checkTemplate } from '../../../../src/domain/template-check.ts'
import type { FormEvent } from 'react'
import { FormFrame } from '../../components/form-frame.tsx'
import { text } from '../../text/index.ts'
import { Basics } from './basics.tsx'
import { ContentFields } from './content-fields.tsx'
import { templateOf, type Draft, type Shape } from './draft.ts'
import { EditingContext, insertInto, type Editing, type Kept, type Target } from './editing.ts'
import { Preview } from './preview.tsx'
import classes from './template.module.css'
import { VariablesPanel } from './variables-panel.tsx'

const words = text.templates

/** What `useApiForm` gives, whichever of the two routes saves the draft. */
export type DraftForm = {
  values: Draft
  set(changes: Partial<Draft>): void
  errorOf(path: string): string | undefined
  alert(): string[] | undefined
  failedWith: number | undefined
  isSaving: boolean
  submit(event?: FormEvent): void
}

type EditorProps = {
  form: DraftForm
  shape: Shape
  /** As it was loaded: what differs is not saved. */
  initial: Draft
  isNew: boolean
  isReadOnly: boolean
  /** Told of what is typed for the preview alone. */
  onKept?: (kept: Kept) => void
  /** True when a save has just led elsewhere. */
  isLeaving: () => boolean
  /** Above the form. */
  notice?: ReactNode
  /** Below the preview. */
  side?(isDirty: boolean): ReactNode
}

export function Editor(props: EditorProps) {
  const { form, shape, initial, isNew, isReadOnly, isLeaving, onKept, notice, side } = props
  const before = useLocation({ select: ({ state }) => state.kept })
  const [samples, setSamples] = useState(before?.samples ?? words.sampleValues)
  const [sampleFiles, setSampleFiles] = useState(before?.sampleFiles ?? [])
  useEffect(() => onKept?.({ samples, sampleFiles }), [onKept, samples, sampleFiles])
  const [isFlash, setIsFlash] = useState(false)
  const [refusedAs, setRefusedAs] = useState<string>()
  const focused = useRef<Target>(undefined)
  const template = useMemo(() => templateOf(form.values, shape), [form.values, shape])
  const written = JSON.stringify(template)
  const isDirty = useMemo(
    () => written !== JSON.stringify(templateOf(initial, shape)),
    [written, initial, shape],
  )
  useBlocker({
    shouldBlockFn: () => isDirty && !isLeaving() && !window.confirm(words.leave),
    enableBeforeUnload: () => isDirty && !isLeaving(),
    disabled: isReadOnly,
  })

  /** After a refusal the same checks run here with every key, so that a mended field is quiet at once. */
  const isRefused = refusedAs !== undefined && form.failedWith !== undefined
  const problems = useMemo(
    () => (isRefused ? problemsOf(template) : new Map<string, string>()),
    [isRefused, template],
  )
  const errorOf = (path: string): string | undefined => {
    const fromServer = form.errorOf(path)
    const isMended = path.startsWith('content') && written !== refusedAs
    return problems.get(path) ?? (isMended ? undefined : fromServer)
  }
  const insert = (given: string) => {
    const target = focused.current
    if (target?.element.isConnected) insertInto(target, given)
    else form.set({ body: `${form.values.body}${/\S$/.test(form.values.body) ? ' ' : ''}${given}` })
  }
  const editing: Editing = {
    shape,
    draft: form.values,
    set: form.set,
    template,
    errorOf,
    isReadOnly,
    isNew,
    samples,
    setSample: (key, value) => setSamples((values) => ({ ...values, [key]: value })),
    sampleFiles,
    setSampleFile: (at, file) =>
      setSampleFiles((files) => {
        const next = [...files]
        next[at] = file
        return next
      }),
    isFlash,
    setIsFlash,
    insert,
    focused,
  }
  const submitted = {
    ...form,
    // Who was quicker is told above the form, with what can be done about it.
    alert: () => (form.failedWith === 412 ? undefined : form.alert()),
    submit(event?: FormEvent) {
      setRefusedAs(written)
      form.submit(event)
    },
  }
  return (
    <EditingContext value={editing}>
      <div className={classes['layout']}>
        <Stack gap="md">
          {isReadOnly && (
            <Alert color="gray" icon={<IconInfoCircle aria-hidden />} c="inherit">
              {words.readOnly}
            </Alert>
          )}
          {notice}
          <FormFrame form={submitted} submitLabel={isNew ? words.create : words.save} isReadOnly={isReadOnly}>
            <Basics />
            <ContentFields />
            <VariablesPanel />
          </FormFrame>
        </Stack>
        <Stack gap="md" className={classes['side']}>
          <Preview />
          {side?.(isDirty)}
        </Stack>
      </div>
    </EditingContext>
  )
}

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** By path of the API, as the server would name them. */
function problemsOf(template: Parameters<typeof checkTemplate>[0]): Map<string, string> {
  const found = new Map<string, string>()
  for (const { field, message } of checkTemplate(template)) {
    const path = /^(?:name|code|channel|kind)$/.test(field) ? field : `content.${field}`
    found.set(path, found.has(path) ? `${found.get(path)}; ${message}` : sentence(message))
  }
  return found
}
