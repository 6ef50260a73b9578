/** The buttons of a WhatsApp template or of one of its cards. */
import { ActionIcon, Button, Group, Select, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { text } from '../../text/index.ts'
import { newButton, type ButtonKind, type DraftButton } from './draft.ts'
import { useEditing } from './editing.ts'
import classes from './template.module.css'
import { TextField } from './text-field.tsx'

const words = text.templates

type ButtonFieldsProps = {
  buttons: readonly DraftButton[]
  onChange(buttons: DraftButton[]): void
  /** `content.buttons`, or that of a card. */
  path: string
  kinds: readonly ButtonKind[]
  max: number
}

export function ButtonFields({ buttons, onChange, path, kinds, max }: ButtonFieldsProps) {
  const { errorOf, isReadOnly } = useEditing()
  const error = errorOf(path)
  const change = (key: string, changes: Partial<DraftButton>) =>
    onChange(buttons.map((button) => (button.key === key ? { ...button, ...changes } : button)))
  return (
    <Stack gap="xs">
      {buttons.map((button, at) => (
        <ButtonField
          key={button.key}
          button={button}
          number={at + 1}
          path={`${path}[${at}]`}
          kinds={kinds}
          onChange={(changes) => change(button.key, changes)}
          onRemove={() => onChange(buttons.filter(({ key }) => key !== button.key))}
        />
      ))}
      {error && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      {!isReadOnly && buttons.length < max && (
        <Group>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => onChange([...buttons, newButton(kinds[0])])}
          >
            {words.addButton}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

type ButtonFieldProps = {
  button: DraftButton
  number: number
  path: string
  kinds: readonly ButtonKind[]
  onChange(changes: Partial<DraftButton>): void
  onRemove(): void
}

function ButtonField({ button, number, path, kinds, onChange, onRemove }: ButtonFieldProps) {
  const { errorOf, isReadOnly } = useEditing()
  const valueError = errorOf(`${path}.value`)
  return (
    <fieldset className={classes['part']}>
      <legend>{words.buttonOf(number)}</legend>
      <Group gap="xs" align="flex-start" wrap="nowrap">
        <Group gap="xs" align="flex-start" flex={1} grow preventGrowOverflow={false}>
          <Select
            label={words.buttonKind}
            miw={150}
            readOnly={isReadOnly}
            data={kinds.map((kind) => ({ value: kind, label: words.buttonKinds[kind] }))}
            value={button.kind}
            onChange={(kind) => onChange({ kind: kind ?? button.kind })}
            error={errorOf(`${path}.kind`)}
          />
          <TextInput
            label={words.buttonText}
            miw={140}
            readOnly={isReadOnly}
            value={button.text}
            onChange={(event) => onChange({ text: event.currentTarget.value })}
            error={errorOf(`${path}.text`) ?? valueError}
          />
          {button.kind === 'url' && (
            <TextField
              label={words.buttonUrl}
              hint={words.buttonUrlHint}
              value={button.url}
              onChange={(url) => onChange({ url })}
              paths={[`${path}.url`]}
            />
          )}
          {button.kind === 'phone' && (
            <TextInput
              label={words.buttonPhone}
              description={words.buttonPhoneHint}
              miw={160}
              readOnly={isReadOnly}
              value={button.phone}
              onChange={(event) => onChange({ phone: event.currentTarget.value })}
              error={errorOf(`${path}.phone`)}
            />
          )}
        </Group>
        {!isReadOnly && (
          <Tooltip label={words.removeButton(number)}>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={26}
              aria-label={words.removeButton(number)}
              onClick={onRemove}
            >
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
    </fieldset>
  )
}
