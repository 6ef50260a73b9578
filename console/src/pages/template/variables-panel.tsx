/** Every variable that can be used, inserted by a click, with a sample value for those that are. */
import { ActionIcon, Alert, Button, Group, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { contactVariableNames, variableKey } from '../../../../src/domain/variables.ts'
import { Panel } from '../../components/panel.tsx'
import { text } from '../../text/index.ts'
import { isKnown, usedNames } from './draft.ts'
import { useEditing } from './editing.ts'
import classes from './template.module.css'

const words = text.templates

export function VariablesPanel() {
  const { template, shape, isReadOnly, errorOf } = useEditing()
  const error = errorOf('content.variables')
  const isCarousel = shape.kind === 'carousel'
  return (
    <Panel title={words.variablesTitle}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {isCarousel ? words.carouselVariables : words.variablesLead}
        </Text>
        {(!isCarousel || template.content.variables.some((name) => !isKnown(name))) && <OwnVariables />}
        {error && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
        {!isReadOnly && !isCarousel && <Suggestions />}
        {!isReadOnly && <ContactVariables />}
        <Samples />
      </Stack>
    </Panel>
  )
}

function Chip({ name, isUsed }: { name: string; isUsed: boolean }) {
  const { insert, isReadOnly } = useEditing()
  return (
    <UnstyledButton
      className={classes['chip']}
      data-used={isUsed || undefined}
      aria-label={words.insertOf(name)}
      disabled={isReadOnly}
      onClick={() => insert(`@${name}`)}
    >
      @{name}
    </UnstyledButton>
  )
}

const useUsedKeys = () => {
  const { template } = useEditing()
  return new Set(usedNames(template.content).map(variableKey))
}

function ContactVariables() {
  const { shape } = useEditing()
  const used = useUsedKeys()
  const names = [...contactVariableNames, ...(shape.kind === 'verification' ? ['Code'] : [])]
  return (
    <div>
      <Text size="xs" fw={600} mb={4}>
        {words.ofContact}
      </Text>
      <ul className={classes['chips']}>
        {names.map((name) => (
          <li key={name}>
            <Chip name={name} isUsed={used.has(variableKey(name))} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function OwnVariables() {
  const { draft, set, isReadOnly } = useEditing()
  const used = useUsedKeys()
  const [typed, setTyped] = useState('')
  const declare = () => {
    const name = typed.trim().replace(/^@/, '')
    if (name !== '') set({ ownVariables: [...draft.ownVariables, name] })
    setTyped('')
  }
  return (
    <div>
      <Text size="xs" fw={600} mb={4}>
        {words.ofCall}
      </Text>
      <ul className={classes['chips']}>
        {draft.ownVariables.map((name, at) => (
          <li key={`${at} ${name}`}>
            <Group gap={2} wrap="nowrap">
              <Chip name={name} isUsed={used.has(variableKey(name))} />
              {!used.has(variableKey(name)) && (
                <Text size="xs" c="dimmed">
                  {words.notUsed}
                </Text>
              )}
              {!isReadOnly && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="sm"
                  aria-label={words.removeVariable(name)}
                  onClick={() => set({ ownVariables: draft.ownVariables.filter((_, index) => index !== at) })}
                >
                  <IconX size={12} aria-hidden />
                </ActionIcon>
              )}
            </Group>
          </li>
        ))}
        {draft.ownVariables.length === 0 && isReadOnly && <li>{text.common.none}</li>}
      </ul>
      {!isReadOnly && (
        <Group gap="xs" mt="xs" align="flex-end">
          <TextInput
            size="xs"
            label={words.newVariable}
            placeholder={words.newVariableHint}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              declare()
            }}
          />
          <Button size="xs" variant="default" disabled={typed.trim() === ''} onClick={declare}>
            {words.declare}
          </Button>
        </Group>
      )}
    </div>
  )
}

/** What is written like a variable and is none: a forgotten declaration, or a name of a social network. */
function Suggestions() {
  const { template, draft, set } = useEditing()
  const declared = new Set(template.content.variables.map(variableKey))
  const isStyle = /^(?:media|import|font|charset|keyframes|supports|page|namespace|layer|container)$/i
  const loose = usedNames(template.content).filter(
    (name) => !declared.has(variableKey(name)) && !isStyle.test(name),
  )
  if (loose.length === 0) return null
  return (
    <Alert color="orange" p="xs" c="inherit">
      <Text size="xs" mb={4}>
        {words.plainText}
      </Text>
      <Group gap={6}>
        {loose.map((name) => (
          <Button
            key={name}
            size="compact-xs"
            variant="default"
            onClick={() => set({ ownVariables: [...draft.ownVariables, name] })}
          >
            {words.makeVariable(name)}
          </Button>
        ))}
      </Group>
    </Alert>
  )
}

function Samples() {
  const { template, samples, setSample } = useEditing()
  const keys = new Map(template.content.variables.map((name) => [variableKey(name), name]))
  if (keys.size === 0) return null
  return (
    <div>
      <Text size="xs" fw={600}>
        {words.samples}
      </Text>
      <Text size="xs" c="dimmed" mb={4}>
        {words.samplesHint}
      </Text>
      <div className={classes['samples']}>
        {[...keys].map(([key, name]) => (
          <TextInput
            key={key}
            size="xs"
            label={`@${name.replace(/^@/, '')}`}
            value={samples[key] ?? ''}
            onChange={(event) => setSample(key, event.currentTarget.value)}
          />
        ))}
      </div>
    </div>
  )
}
