/** One setting of a schema as the input that fits it. */
import {
  Checkbox,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { formatNumber } from '../../format.ts'
import { text } from '../../text/index.ts'
import { choicesOf, isLong, type Field, type JsonSchema } from './schema.ts'

const words = text.schemaForm

export type FieldProps = {
  field: Field
  value: unknown
  onChange(value: unknown): void
  /** With an empty path: of the field itself. */
  errorOf(path: string): string | undefined
  isSecretSet: boolean
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

export function SchemaField(props: FieldProps) {
  const { field, value, onChange, errorOf } = props
  const { name, schema, title, isRequired } = field
  const shared = {
    name,
    label: title,
    description: helpOf(schema),
    error: errorOf(''),
    required: isRequired,
  }
  switch (field.kind) {
    case 'text':
      return (
        <TextInput
          {...shared}
          autoComplete="off"
          value={textOf(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'multiline':
      return (
        <Textarea
          {...shared}
          autosize
          minRows={2}
          maxRows={12}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
          value={textOf(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...shared}
          allowDecimal={schema.type === 'number'}
          placeholder={words.notSet}
          value={typeof value === 'number' ? value : textOf(value)}
          onChange={(changed) => onChange(changed === '' ? undefined : changed)}
        />
      )
    case 'flag':
      return (
        <Switch
          {...shared}
          mt={4}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <Select
          {...shared}
          data={choicesOf(schema)}
          value={textOf(value) || null}
          onChange={(chosen) => onChange(chosen ?? undefined)}
        />
      )
    case 'list':
      return (
        <TagsInput
          {...shared}
          placeholder={words.addItem(title)}
          value={Array.isArray(value) ? value.map(textOf) : []}
          onChange={onChange}
        />
      )
    case 'object':
      // Drawn by the form, which is made of fields itself.
      return null
    case 'secret':
      return <SecretField {...props} shared={shared} />
  }
}

type Shared = {
  name: string
  label: string
  description?: string
  error: string | undefined
  required: boolean
}

/** What the server holds is never here: an empty input keeps it, null removes it. */
function SecretField({ field, value, onChange, isSecretSet, shared }: FieldProps & { shared: Shared }) {
  const isGoing = value === null
  const input = {
    ...shared,
    required: shared.required && !isSecretSet,
    placeholder: isGoing ? words.secretWillGo : isSecretSet ? words.secretKept : undefined,
    value: textOf(value),
    disabled: isGoing,
    autoComplete: 'new-password',
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  return (
    <Stack gap={4}>
      {/* A key of several lines would lose its line breaks in an input of one. */}
      {isLong(field.schema) ? (
        <Textarea {...input} autosize minRows={2} maxRows={8} />
      ) : (
        <PasswordInput {...input} />
      )}
      {isSecretSet && !field.isRequired && (
        <Checkbox
          size="xs"
          label={words.secretRemove(field.title)}
          checked={isGoing}
          onChange={(event) => onChange(event.currentTarget.checked ? null : '')}
        />
      )}
    </Stack>
  )
}

/** The description, with the bounds of a number. */
function helpOf({ description, minimum, maximum, type, default: usual }: JsonSchema): string | undefined {
  const bounds =
    type !== 'integer' && type !== 'number'
      ? undefined
      : minimum !== undefined && maximum !== undefined
        ? words.between(formatNumber(minimum), formatNumber(maximum))
        : minimum !== undefined
          ? words.atLeast(formatNumber(minimum))
          : maximum !== undefined
            ? words.atMost(formatNumber(maximum))
            : undefined
  // Many descriptions say themselves what is usual.
  const isUsualTold = typeof usual !== 'number' || /usually/i.test(description ?? '')
  const facts = [bounds, isUsualTold ? undefined : words.usually(String(usual))].filter(Boolean)
  const sentence = facts.join(', ')
  const inWords = sentence === '' ? '' : `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
  return [description, inWords].filter(Boolean).join(' ') || undefined
}
