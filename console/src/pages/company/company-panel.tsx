/** Name, time zone and policies. */
import { Alert, NumberInput, Select, TextInput } from '@mantine/core'
import { useMemo } from 'react'
import type { AnswerOf } from '../../api.ts'
import { ErrorState } from '../../components/error-state.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { Panel } from '../../components/panel.tsx'
import { formatDuration } from '../../format.ts'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.company.data
type CompanyData = AnswerOf<'GET /company'>

export function CompanyPanel() {
  const { data, version, error, refetch } = useApiQuery('/company')
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) return <PageLoading />
  return (
    <Panel title={words.title} maw={760}>
      {data.suspendedAt && (
        <Alert color="red" mb="sm">
          {words.suspended}
        </Alert>
      )}
      <CompanyForm key={version} company={data} version={version} />
    </Panel>
  )
}

function CompanyForm({ company, version }: { company: CompanyData; version: string | undefined }) {
  const form = useApiForm('PATCH /company', {
    initial: {
      name: company.name ?? '',
      timeZone: company.timeZone ?? '',
      tokenTtlSeconds: company.tokenTtlSeconds ?? '',
      attendanceIdleHours: company.attendanceIdleHours ?? '',
      unknownPolicy: company.unknownPolicy ?? 'leave',
    },
    call: ({ tokenTtlSeconds, attendanceIdleHours, ...values }) => ({
      body: {
        ...values,
        tokenTtlSeconds: asNumber(tokenTtlSeconds),
        attendanceIdleHours: asNumber(attendanceIdleHours),
      },
      version,
    }),
    success: words.saved,
  })
  const zones = useMemo(
    () => [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', company.timeZone ?? 'UTC'])].toSorted(),
    [company.timeZone],
  )
  const ttl = asNumber(form.values.tokenTtlSeconds)
  return (
    <FormFrame form={form}>
      <TextInput label={words.name} description={words.nameHint} required {...form.field('name')} />
      <Select
        label={words.timeZone}
        description={words.timeZoneHint}
        data={zones}
        searchable
        limit={200}
        {...form.field('timeZone')}
      />
      <NumberInput
        label={words.tokenTtl}
        description={words.tokenTtlHint(durationOf(ttl))}
        min={1}
        allowDecimal={false}
        thousandSeparator=" "
        {...form.field('tokenTtlSeconds')}
      />
      <NumberInput
        label={words.attendanceIdle}
        description={words.attendanceIdleHint}
        min={1}
        allowDecimal={false}
        {...form.field('attendanceIdleHours')}
      />
      <Select
        label={words.unknownPolicy}
        description={words.unknownHint}
        data={Object.entries(words.policies).map(([value, label]) => ({ value, label }))}
        {...form.field('unknownPolicy')}
      />
    </FormFrame>
  )
}

const durationOf = (seconds: number | undefined): string => {
  if (seconds === undefined) return text.common.none
  const days = Math.round(seconds / 86_400)
  return days >= 3 ? words.days(days) : formatDuration(seconds * 1_000)
}

const asNumber = (value: number | string): number | undefined =>
  typeof value === 'number' ? value : value === '' ? undefined : Number(value)
