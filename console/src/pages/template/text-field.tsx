/** A field that takes variables, with its count of characters where there is a limit. */
import { Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { countCharacters } from '../../../../src/domain/saved.ts'
import { text } from '../../text/index.ts'
import { useEditing, useInsertable } from './editing.ts'
import classes from './template.module.css'

type TextFieldProps = {
  label: string
  hint?: ReactNode
  value: string
  onChange(value: string): void
  /** Paths of the API whose errors belong here. */
  paths: readonly string[]
  limit?: number
  lines?: number
  isRequired?: boolean
  isCode?: boolean
}

export function TextField(props: TextFieldProps) {
  const { value, onChange, limit, lines = 1 } = props
  const { errorOf, isReadOnly } = useEditing()
  const insertable = useInsertable(onChange)
  const count = countCharacters(value)
  const shared = {
    label: (
      <span className={classes['labelRow']}>
        <span>
          {props.label}
          {props.isRequired && <span className={classes['required']}> *</span>}
        </span>
        {limit !== undefined && (
          <span className={classes['count']} data-over={count > limit || undefined} aria-hidden>
            {text.templates.counted(count, limit)}
          </span>
        )}
      </span>
    ),
    'aria-label': props.label,
    description: props.hint,
    classNames: { label: classes['label']! },
    readOnly: isReadOnly,
    value,
    error: props.paths.map(errorOf).find((sentence) => sentence !== undefined),
    ...insertable,
  }
  return lines > 1 ? (
    <Textarea
      {...shared}
      autosize
      minRows={lines}
      maxRows={24}
      styles={props.isCode ? { input: { fontFamily: 'var(--mantine-font-family-monospace)' } } : {}}
      spellCheck={!props.isCode}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  ) : (
    <TextInput {...shared} onChange={(event) => onChange(event.currentTarget.value)} />
  )
}
