/**
 * A form drawn from a JSON schema: texts, secrets, numbers, choices, switches, lists and objects. The server checks;
 * its errors appear at their fields by `errorOf`, which is asked with the path below the form.
 */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import { text } from '../../text/index.ts'
import { SchemaField, type FieldProps } from './schema-field.tsx'
import { groupsOf, type FieldGroup, type JsonSchema, type Values } from './schema.ts'
import classes from './schema-form.module.css'

export type SchemaFormProps = {
  schema: JsonSchema
  values: Values
  onChange(values: Values): void
  errorOf(path: string): string | undefined
  /** Names of the secrets that the server holds. */
  setSecrets?: readonly string[]
}

export function SchemaForm(props: SchemaFormProps) {
  return (
    <Stack gap="sm">
      {groupsOf(props.schema).map((group) => (
        <Group key={group.fields[0]?.name} group={group} {...props} />
      ))}
    </Stack>
  )
}

function Group({
  group,
  values,
  onChange,
  errorOf,
  setSecrets = [],
}: SchemaFormProps & { group: FieldGroup }) {
  const fields = (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
      {group.fields.map((field) => {
        const props: FieldProps = {
          field,
          value: values[field.name],
          onChange: (value) => onChange({ ...values, [field.name]: value }),
          errorOf: (path) => errorOf(path === '' ? field.name : `${field.name}.${path}`),
          isSecretSet: setSecrets.includes(field.name),
        }
        return field.kind === 'object' ? (
          <ObjectField key={field.name} {...props} />
        ) : (
          <SchemaField key={field.name} {...props} />
        )
      })}
    </SimpleGrid>
  )
  if (group.name === undefined || group.fields.length < 2) return fields
  // Open when something in it differs from what it is at first, or is wrong.
  const isUsed = group.fields.some(({ name, schema }) => {
    const value = values[name]
    return errorOf(name) !== undefined || (value !== undefined && value !== '' && value !== schema.default)
  })
  return (
    <details className={classes['group']} open={isUsed || undefined}>
      <summary>
        <Text span size="sm" fw={600}>
          {text.schemaForm.group(group.name, group.fields.length)}
        </Text>
      </summary>
      <div className={classes['inside']}>{fields}</div>
    </details>
  )
}

const ObjectField = ({ field, value, onChange, errorOf }: FieldProps) => (
  <fieldset className={classes['object']}>
    <legend>
      <Text span size="sm" fw={600}>
        {field.title}
      </Text>
    </legend>
    <SchemaForm
      schema={field.schema}
      values={(value ?? {}) as Values}
      onChange={onChange}
      errorOf={errorOf}
    />
  </fieldset>
)
