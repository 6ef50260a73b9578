/** A new line: its form is drawn from the settings of the driver. */
import { NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { BodyOf, ItemOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { Page } from '../../components/page.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { SchemaForm } from '../../components/schema-form/schema-form.tsx'
import { defaultsOf, filledIn, type JsonSchema, type Values } from '../../components/schema-form/schema.ts'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { DeliveryFields, deliveryBody, usualDelivery, type DeliveryValues } from './line-fields.tsx'

const words = text.channels
type Driver = ItemOf<'GET /drivers'>

export function NewLine() {
  return (
    <Page
      title={words.newTitle}
      lead={words.newLead}
      needs="POST /lines"
      back={<AppLink to="/channels">{words.backToChannels}</AppLink>}
    >
      <NewLineBody />
    </Page>
  )
}

function NewLineBody() {
  const { data, error, refetch } = useApiQuery('/drivers')
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return <NewLineForm drivers={data.items} />
}

const schemaOf = (driver: Driver | undefined): JsonSchema => driver?.settings ?? {}

/** In the order of the navigation's channels: what most people come for first. */
function optionsOf(drivers: readonly Driver[]) {
  return (['whatsapp', 'sms', 'email'] as const).map((channel) => ({
    group: text.common.channels[channel],
    items: drivers
      .filter((driver) => driver.channel === channel)
      .map(({ name, title }) => ({ value: name, label: title })),
  }))
}

type NewLineValues = DeliveryValues & {
  driver: string
  name: string
  countryCode: number | string
  phoneNumber: number | string
  email: string
  settings: Values
}

const nothingYet: NewLineValues = {
  driver: '',
  name: '',
  countryCode: 55,
  phoneNumber: '',
  email: '',
  settings: {},
  ...usualDelivery,
}

function NewLineForm({ drivers }: { drivers: Driver[] }) {
  const navigate = useNavigate()
  const form = useApiForm('POST /lines', {
    initial: nothingYet,
    call: ({ driver, name, countryCode, phoneNumber, email, settings, ...delivery }) => ({
      body: {
        name,
        driver,
        ...(channelOf(driver) === 'email'
          ? { email }
          : { countryCode: wholeOf(countryCode), phoneNumber: wholeOf(phoneNumber) }),
        ...deliveryBody(delivery),
        settings: filledIn(settings),
      } as unknown as BodyOf<'POST /lines'>,
    }),
    success: words.created,
    alsoStale: ['lanes'],
    onSuccess: ({ id }) => {
      const { verifyToken } = form.values.settings
      void navigate({
        to: '/channels/$id',
        params: { id },
        // Shown once on the next page, beside the address that it belongs to; never in the address of the page.
        state: { verifyToken: typeof verifyToken === 'string' ? verifyToken : undefined },
      })
    },
  })
  const channelOf = (name: string) => drivers.find((driver) => driver.name === name)?.channel
  const driver = drivers.find(({ name }) => name === form.values.driver)
  const choose = (name: string | null) => {
    const chosen = drivers.find((one) => one.name === name)
    form.set({ driver: name ?? '', settings: defaultsOf(schemaOf(chosen)) })
  }
  return (
    <FormFrame form={form} submitLabel={text.common.create} isReadOnly={driver === undefined}>
      <Panel title={words.identityPart}>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" verticalSpacing="sm">
          <Select
            label={words.driver}
            description={words.driverHint}
            required
            data={optionsOf(drivers)}
            value={form.values.driver || null}
            onChange={choose}
            error={form.errorOf('driver')}
          />
          {driver && (
            <TextInput label={words.name} description={words.nameHint} required {...form.field('name')} />
          )}
          {driver && <AddressFields channel={driver.channel} form={form} />}
        </SimpleGrid>
      </Panel>
      {driver && (
        <>
          <Panel title={words.providerPart}>
            <SchemaForm
              key={driver.name}
              schema={schemaOf(driver)}
              values={form.values.settings}
              onChange={(settings) => form.set({ settings })}
              errorOf={(path) => form.errorOf(`settings.${path}`)}
            />
          </Panel>
          <Panel title={words.deliveryPart}>
            <DeliveryFields
              values={form.values}
              set={form.set}
              errorOf={form.errorOf}
              channel={driver.channel}
            />
          </Panel>
        </>
      )}
    </FormFrame>
  )
}

const wholeOf = (value: number | string): number | undefined => (value === '' ? undefined : Number(value))

type AddressForm = {
  field(name: 'email'): { name: string; value: string; onChange(value: unknown): void; error?: string }
  values: { countryCode: number | string; phoneNumber: number | string }
  set(changes: { countryCode?: number | string; phoneNumber?: number | string }): void
  errorOf(path: string): string | undefined
}

function AddressFields({ channel, form }: { channel: Driver['channel']; form: AddressForm }) {
  if (channel === 'email')
    return <TextInput label={words.email} description={words.emailHint} required {...form.field('email')} />
  return (
    <SimpleGrid cols={2} spacing="xs">
      <NumberInput
        label={words.countryCode}
        description={'\u00a0'}
        required
        hideControls
        allowDecimal={false}
        prefix="+"
        value={form.values.countryCode}
        onChange={(countryCode) => form.set({ countryCode })}
        error={form.errorOf('countryCode')}
      />
      <NumberInput
        label={words.phoneNumber}
        description={words.phoneNumberHint}
        required
        hideControls
        allowDecimal={false}
        value={form.values.phoneNumber}
        onChange={(phoneNumber) => form.set({ phoneNumber })}
        error={form.errorOf('phoneNumber')}
      />
    </SimpleGrid>
  )
}
