/** Creating a contact and changing its data. */
import { Fieldset, Select, SimpleGrid, Textarea, TextInput } from '@mantine/core'
import type { AnswerOf } from '../../api.ts'
import { FormFrame } from '../../components/form-frame.tsx'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.contacts
type Contact = AnswerOf<'GET /contacts/:id'>

const jokerCount = 5
const jokerNames = ['joker0', 'joker1', 'joker2', 'joker3', 'joker4'] as const

type Values = Record<
  'phone' | 'email' | 'name' | 'taxId' | 'customCode' | 'tag' | 'segmentId' | (typeof jokerNames)[number],
  string
>

const valuesOf = (contact?: Contact): Values => {
  const joker = (place: number) => contact?.jokers[place] ?? ''
  return {
    phone: contact?.phone ?? '',
    email: contact?.email ?? '',
    name: contact?.name ?? '',
    taxId: contact?.taxId ?? '',
    customCode: contact?.customCode ?? '',
    tag: contact?.tag ?? '',
    segmentId: contact?.segmentId ?? '',
    joker0: joker(0),
    joker1: joker(1),
    joker2: joker(2),
    joker3: joker(3),
    joker4: joker(4),
  }
}

function bodyOf({ phone, email, name, taxId, customCode, tag, segmentId, ...jokers }: Values) {
  const given = jokerNames.map((joker) => jokers[joker])
  return { phone, email, name, taxId, customCode, tag, segmentId, jokers: given }
}

export function CreateContactForm({ onDone, onCancel }: { onDone(id: string): void; onCancel(): void }) {
  const form = useApiForm('POST /contacts', {
    initial: valuesOf(),
    call: (values) => ({ body: bodyOf(values) }),
    success: words.created,
    onSuccess: ({ id }) => onDone(id),
  })
  return (
    <FormFrame form={form} submitLabel={text.common.create} onCancel={onCancel}>
      <Fields form={form} />
    </FormFrame>
  )
}

type ChangeProps = { contact: Contact; version: string | undefined; onDone(): void }

export function ChangeContactForm({ contact, version, onDone }: ChangeProps) {
  const form = useApiForm('PATCH /contacts/:id', {
    initial: valuesOf(contact),
    call: (values) => ({ path: { id: contact.id }, body: bodyOf(values), version }),
    success: words.changed,
    onSuccess: onDone,
    alsoStale: ['attendances'],
  })
  return (
    <FormFrame form={form} onCancel={onDone}>
      <Fields form={form} />
    </FormFrame>
  )
}

type Form = {
  field(
    name: keyof Values,
    path?: string,
  ): { name: string; value: string; onChange(value: unknown): void; error: string | undefined }
}

function Fields({ form }: { form: Form }) {
  const { data } = useApiQuery('/segments', { query: { limit: 200, sort: 'name' } })
  const segments = (data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput label={words.name} data-autofocus {...form.field('name')} />
        <Select
          label={words.segment}
          data={[{ value: '', label: words.noSegment }, ...segments]}
          {...form.field('segmentId')}
        />
        <TextInput label={words.phone} type="tel" placeholder={words.phoneHint} {...form.field('phone')} />
        <TextInput label={words.email} type="email" {...form.field('email')} />
        <TextInput label={words.taxId} {...form.field('taxId')} />
        <TextInput label={words.customCode} {...form.field('customCode')} />
      </SimpleGrid>
      <TextInput label={words.tag} {...form.field('tag')} />
      <Fieldset legend={words.jokers}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          {jokerNames.slice(0, jokerCount - 1).map((name, place) => (
            <TextInput key={name} label={words.joker(place + 1)} {...form.field(name, `jokers[${place}]`)} />
          ))}
        </SimpleGrid>
        <Textarea
          label={words.joker(jokerCount)}
          description={words.jokersHint}
          autosize
          minRows={1}
          maxRows={6}
          mt="sm"
          {...form.field('joker4', 'jokers[4]')}
        />
      </Fieldset>
    </>
  )
}
