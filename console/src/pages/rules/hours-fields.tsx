/** Days and hours in which messages may leave, and days on which nothing does. */
import { Button, Group, Pill, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { IconAction } from '../../components/icon-action.tsx'
import { text } from '../../text/index.ts'
import { timeOf, type Span } from './in-words.ts'
import classes from './rules.module.css'

const words = text.rules

type HoursSettings = { timeZone: string; weekdays: Span[][]; holidays: string[] }

type HoursFieldsProps = {
  settings: HoursSettings
  onChange(changes: Partial<HoursSettings>): void
  errorOf(path: string): string | undefined
}

const zones = [
  { value: '', label: words.companysZone },
  ...Intl.supportedValuesOf('timeZone').map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
]

export function HoursFields({ settings, onChange, errorOf }: HoursFieldsProps) {
  const { weekdays } = settings
  const setDay = (day: number, spans: Span[]) =>
    onChange({ weekdays: weekdays.map((before, index) => (index === day ? spans : before)) })
  const [monday = []] = weekdays
  return (
    <>
      <Select
        label={words.timeZone}
        data={zones}
        searchable
        value={settings.timeZone}
        onChange={(timeZone) => onChange({ timeZone: timeZone ?? '' })}
        error={errorOf('timeZone')}
      />
      <fieldset className={classes['fieldset']}>
        <Text component="legend" size="sm" fw={500} p={0}>
          {words.hoursLegend}
        </Text>
        <Text size="xs" c="dimmed" mb={4}>
          {words.hoursHint}
        </Text>
        {weekdays.map((spans, day) => (
          <Day
            key={words.days[day]}
            name={words.days[day] ?? ''}
            spans={spans}
            onChange={(changed) => setDay(day, changed)}
            errorOf={(index) => errorOf(`weekdays[${day}][${index}]`)}
          />
        ))}
        <Button
          variant="default"
          size="xs"
          mt={6}
          onClick={() => onChange({ weekdays: weekdays.map((spans, day) => (day < 5 ? monday : spans)) })}
        >
          {words.copyMonday}
        </Button>
      </fieldset>
      <Holidays dates={settings.holidays} onChange={(holidays) => onChange({ holidays })} errorOf={errorOf} />
    </>
  )
}

/** 00:00 at the end of a span is midnight: the 1440th minute. */
const minuteOf = (time: string, isEnd: boolean): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const minute = hours * 60 + minutes
  return isEnd && minute === 0 ? 1440 : minute
}

type DayProps = {
  name: string
  spans: Span[]
  onChange(spans: Span[]): void
  errorOf(index: number): string | undefined
}

function Day({ name, spans, onChange, errorOf }: DayProps) {
  const change = (at: number, changes: Partial<Span>) =>
    onChange(spans.map((span, index) => (index === at ? { ...span, ...changes } : span)))
  return (
    <div className={classes['day']}>
      <span className={classes['dayName']}>{name}</span>
      <Stack gap={4}>
        {spans.length === 0 && (
          <Text size="sm" c="dimmed" pt={5}>
            {words.closed}
          </Text>
        )}
        {spans.map((span, index) => (
          // A span is its place: two of a day may be the same while they are being typed.
          <Group key={index} gap={4} align="flex-start" wrap="nowrap">
            <TextInput
              type="time"
              size="xs"
              aria-label={words.from(name, index)}
              value={timeOf(span.from)}
              onChange={(event) => change(index, { from: minuteOf(event.currentTarget.value, false) })}
              error={errorOf(index)}
            />
            <Text span pt={4}>
              –
            </Text>
            <TextInput
              type="time"
              size="xs"
              aria-label={words.to(name, index)}
              value={timeOf(span.to)}
              onChange={(event) => change(index, { to: minuteOf(event.currentTarget.value, true) })}
            />
            <IconAction
              label={words.removeSpan(name, index)}
              icon={<IconX size={16} aria-hidden />}
              onClick={() => onChange(spans.filter((_, at) => at !== index))}
            />
          </Group>
        ))}
      </Stack>
      <IconAction
        label={words.addSpan(name)}
        icon={<IconPlus size={16} aria-hidden />}
        onClick={() => onChange([...spans, nextSpan(spans)])}
      />
    </div>
  )
}

/** After the last one, or the usual hours of an office. */
function nextSpan(spans: readonly Span[]): Span {
  const last = spans.at(-1)
  if (last === undefined) return { from: 8 * 60, to: 20 * 60 }
  const from = Math.min(last.to + 60, 1439)
  return { from, to: Math.min(from + 120, 1440) }
}

type HolidaysProps = {
  dates: string[]
  onChange(dates: string[]): void
  errorOf(path: string): string | undefined
}

function Holidays({ dates, onChange, errorOf }: HolidaysProps) {
  const [date, setDate] = useState('')
  const add = () => {
    if (date !== '' && !dates.includes(date)) onChange([...dates, date].toSorted())
    setDate('')
  }
  const fault = dates.map((_, index) => errorOf(`holidays[${index}]`)).find((one) => one !== undefined)
  return (
    <Stack gap={6}>
      <Group align="flex-end" gap="xs">
        <TextInput
          type="date"
          label={words.holidaysLabel}
          description={words.holidaysHint}
          value={date}
          onChange={(event) => setDate(event.currentTarget.value)}
          error={fault ?? errorOf('holidays')}
        />
        <Button variant="default" disabled={date === ''} onClick={add}>
          {words.addHoliday}
        </Button>
      </Group>
      {dates.length > 0 && (
        <Pill.Group>
          {dates.map((one) => (
            <Pill
              key={one}
              withRemoveButton
              removeButtonProps={{
                'aria-label': words.removeHoliday(one),
                'aria-hidden': false,
                tabIndex: 0,
              }}
              onRemove={() => onChange(dates.filter((other) => other !== one))}
            >
              {one}
            </Pill>
          ))}
        </Pill.Group>
      )}
    </Stack>
  )
}
