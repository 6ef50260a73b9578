/** What the parts of the editor share: the draft, where errors go, sample values, and the field one wrote in last. */
import { createContext, useContext, useEffect, useRef, type FocusEvent } from 'react'
import type { TemplateDraft } from '../../../../src/domain/template-check.ts'
import type { ItemOf } from '../../api.ts'
import type { Draft, Shape } from './draft.ts'

export type Media = ItemOf<'GET /media'>

export type Editing = {
  shape: Shape
  draft: Draft
  set(changes: Partial<Draft>): void
  /** The draft as it would be saved. */
  template: TemplateDraft
  /** The sentence for a path of the API, such as `content.body`. */
  errorOf(path: string): string | undefined
  isReadOnly: boolean
  isNew: boolean
  /** By the key of the variable. */
  samples: Readonly<Record<string, string>>
  setSample(key: string, value: string): void
  /** Files for preview and test: of the header, of each card, or the attachment. */
  sampleFiles: readonly (Media | undefined)[]
  setSampleFile(at: number, file: Media | undefined): void
  isFlash: boolean
  setIsFlash(isFlash: boolean): void
  /** Puts a text where the cursor was last, or at the end of the body. */
  insert(text: string): void
  focused: { current: Target | undefined }
}

/** What is typed for the preview alone; it goes along when a new template gets its own page. */
export type Kept = {
  samples: Readonly<Record<string, string>>
  sampleFiles: readonly (Media | undefined)[]
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    kept?: Kept
  }
}

type Field = HTMLInputElement | HTMLTextAreaElement
export type Target = { element: Field; write(value: string): void }

export const EditingContext = createContext<Editing | undefined>(undefined)

export function useEditing(): Editing {
  const editing = useContext(EditingContext)
  if (editing === undefined) throw new Error('There is no editor around this.')
  return editing
}

/** For a field that takes variables: `<Textarea {...useInsertable(write)} />`. */
export function useInsertable(write: (value: string) => void) {
  const { focused } = useEditing()
  const latest = useRef(write)
  useEffect(() => {
    latest.current = write
  })
  return {
    onFocus: ({ currentTarget }: FocusEvent<Field>) => {
      focused.current = { element: currentTarget, write: (value) => latest.current(value) }
    },
  }
}

/** With a space around it where it would run into a word. */
export function insertInto({ element, write }: Target, given: string): void {
  const { value } = element
  const start = element.selectionStart ?? value.length
  const end = element.selectionEnd ?? start
  const isWord = /[\p{L}\p{M}\p{N}._]/u
  const before = isWord.test(value.slice(0, start).slice(-1)) ? ' ' : ''
  const after = /[\p{L}\p{N}_]/u.test(value.slice(end, end + 1)) ? ' ' : ''
  const isAddress = /^https?:/i.test(value)
  const put = isAddress ? given : before + given + after
  write(value.slice(0, start) + put + value.slice(end))
  const cursor = start + put.length - (isAddress ? 0 : after.length)
  requestAnimationFrame(() => {
    element.focus()
    element.setSelectionRange(cursor, cursor)
  })
}
