/** Names and codes: ours, and those that WhatsApp knows. */
import { Autocomplete, Select, SimpleGrid, TextInput } from '@mantine/core'
import { Panel } from '../../components/panel.tsx'
import { text } from '../../text/index.ts'
import { codeFrom, providerNameFrom } from './draft.ts'
import { useEditing } from './editing.ts'

const words = text.templates

const languages = ['en', 'en_GB', 'en_US', 'pt_BR', 'pt_PT', 'es', 'es_AR', 'es_MX', 'fr', 'de', 'it', 'nl']

export function Basics() {
  const { draft, set, errorOf, isReadOnly, isNew, shape } = useEditing()
  /** Until somebody writes them themselves, code and name at WhatsApp follow the name. */
  const rename = (name: string) =>
    set({
      name,
      ...(isNew && draft.code === codeFrom(draft.name) && { code: codeFrom(name) }),
      ...(isNew &&
        draft.providerName === providerNameFrom(draft.name) && { providerName: providerNameFrom(name) }),
    })
  return (
    <Panel title={words.basics}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" verticalSpacing="sm">
        <TextInput
          label={words.name}
          description={words.nameHint}
          required
          readOnly={isReadOnly}
          value={draft.name}
          onChange={(event) => rename(event.currentTarget.value)}
          error={errorOf('name')}
        />
        <TextInput
          label={words.code}
          description={words.codeHint}
          required
          readOnly={isReadOnly}
          value={draft.code}
          onChange={(event) => set({ code: event.currentTarget.value })}
          error={errorOf('code')}
        />
        {shape.channel === 'whatsapp' && <ProviderFields />}
      </SimpleGrid>
    </Panel>
  )
}

function ProviderFields() {
  const { draft, set, errorOf, isReadOnly, shape, template } = useEditing()
  return (
    <>
      <TextInput
        label={words.providerName}
        description={words.providerNameHint}
        required
        readOnly={isReadOnly}
        value={draft.providerName}
        onChange={(event) => set({ providerName: event.currentTarget.value })}
        error={errorOf('content.provider.name') ?? errorOf('content.provider')}
      />
      <SimpleGrid cols={2} spacing="sm">
        <Autocomplete
          label={words.language}
          description={words.languageHint}
          required
          readOnly={isReadOnly}
          data={languages}
          value={draft.language}
          onChange={(language) => set({ language })}
          error={errorOf('content.provider.language')}
        />
        {shape.kind === 'text' ? (
          <Select
            label={words.category}
            description={'\u00a0'}
            readOnly={isReadOnly}
            data={(['utility', 'marketing'] as const).map((value) => ({
              value,
              label: words.categories[value],
            }))}
            value={draft.category}
            onChange={(category) => set({ category: category === 'marketing' ? 'marketing' : 'utility' })}
            error={errorOf('content.provider.category')}
          />
        ) : (
          <TextInput
            label={words.category}
            description={words.categoryFixed}
            readOnly
            value={words.categories[template.content.provider?.category ?? 'utility']}
          />
        )}
      </SimpleGrid>
    </>
  )
}
