/** What each kind of rule asks for. */
import { Group, NumberInput, Select, Text } from '@mantine/core'
import type { BodyOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { HoursFields } from './hours-fields.tsx'
import type { Kind, Span } from './in-words.ts'

const words = text.rules

/** Those of all kinds together: a form keeps them when the kind is changed to and fro. */
export type KindSettings = {
  listId: string
  timeZone: string
  weekdays: Span[][]
  holidays: string[]
  limit: number | string
  period: 'hour' | 'day' | 'week' | 'month'
  withinMinutes: number | string
}

const office: Span[] = [{ from: 8 * 60, to: 20 * 60 }]

export const usualSettings: KindSettings = {
  listId: '',
  timeZone: '',
  weekdays: [office, office, office, office, office, [], []],
  holidays: [],
  limit: 3,
  period: 'day',
  withinMinutes: 60,
}

const numberOf = (value: number | string): number | undefined => (value === '' ? undefined : Number(value))

export function settingsFor(kind: Kind, all: KindSettings): BodyOf<'POST /rules'>['settings'] {
  switch (kind) {
    case 'restriction_list':
      return all.listId === '' ? {} : { listId: all.listId }
    case 'allowed_hours':
      return { timeZone: all.timeZone, weekdays: all.weekdays, holidays: all.holidays }
    case 'frequency_cap':
      return { limit: numberOf(all.limit), period: all.period }
    case 'duplicate':
      return { withinMinutes: numberOf(all.withinMinutes) }
    case 'opt_out':
    case 'segment_channel':
    case 'template_state':
      return {}
  }
}

export type KindFieldsProps = {
  kind: Kind
  settings: KindSettings
  onChange(changes: Partial<KindSettings>): void
  errorOf(path: string): string | undefined
}

export function KindFields(props: KindFieldsProps) {
  const { settings, onChange, errorOf } = props
  switch (props.kind) {
    case 'restriction_list':
      return <ListField {...props} />
    case 'allowed_hours':
      return <HoursFields settings={settings} onChange={onChange} errorOf={errorOf} />
    case 'frequency_cap':
      return (
        <Group grow align="flex-start">
          <NumberInput
            label={words.limit}
            description={words.limitUnit}
            required
            allowDecimal={false}
            value={settings.limit}
            onChange={(limit) => onChange({ limit })}
            error={errorOf('limit')}
          />
          <Select
            label={words.period}
            description={'\u00a0'}
            data={Object.entries(words.periods).map(([value, label]) => ({ value, label }))}
            value={settings.period}
            onChange={(period) => period && onChange({ period: period as KindSettings['period'] })}
            error={errorOf('period')}
          />
        </Group>
      )
    case 'duplicate':
      return (
        <NumberInput
          label={words.withinMinutes}
          description={words.withinMinutesUnit}
          required
          allowDecimal={false}
          value={settings.withinMinutes}
          onChange={(withinMinutes) => onChange({ withinMinutes })}
          error={errorOf('withinMinutes')}
        />
      )
    case 'opt_out':
    case 'segment_channel':
    case 'template_state':
      return null
  }
}

function ListField({ settings, onChange, errorOf }: KindFieldsProps) {
  const { data } = useApiQuery('/restriction-lists', { query: { limit: 200, sort: 'name' } })
  if (data?.items.length === 0)
    return (
      <Text size="sm">
        {words.noLists}{' '}
        <AppLink to="/restriction-lists" underline="always">
          {words.makeList}
        </AppLink>
      </Text>
    )
  return (
    <Select
      label={words.list}
      description={words.listHint}
      required
      searchable
      data={(data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={settings.listId || null}
      onChange={(listId) => onChange({ listId: listId ?? '' })}
      error={errorOf('listId')}
    />
  )
}
