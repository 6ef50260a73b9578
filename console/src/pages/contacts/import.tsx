/** Importing contacts: choose a file, see what its columns mean, follow how it goes. The import is in the address. */
import { Alert, FileInput, Stack, Switch } from '@mantine/core'
import { IconAlertTriangle, IconFileTypeCsv } from '@tabler/icons-react'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ContactColumn } from '../../../../src/domain/contact-columns.ts'
import type { ItemOf } from '../../api.ts'
import { AppLink, LinkButton } from '../../components/app-link.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { FormFrame } from '../../components/form-frame.tsx'
import { Instant } from '../../components/instant.tsx'
import { Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { Tag, type Tone } from '../../components/tag.tsx'
import { formatNumber } from '../../format.ts'
import { useApiForm } from '../../hooks/use-api-form.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { findProblem, lookInto, withMeanings, type CsvLook } from './csv-file.ts'
import { ImportJob } from './import-job.tsx'
import { Mapping } from './mapping.tsx'

const words = text.contacts

export function ContactImport() {
  const navigate = useNavigate()
  const job = useLocation({ select: ({ search }) => (search as Record<string, string>)['job'] })
  const show = (id: string) => navigate({ to: '/contacts/import', search: { job: id } as never })
  return (
    <Page
      title={words.importTitle}
      lead={words.importLead}
      back={<AppLink to="/contacts">{words.back}</AppLink>}
      needs="POST /contacts/import"
      actions={
        job && (
          <LinkButton to="/contacts/import" variant="default">
            {words.another}
          </LinkButton>
        )
      }
    >
      {job ? <ImportJob key={job} id={job} /> : <ImportForm onStarted={(id) => void show(id)} />}
      <RecentImports />
    </Page>
  )
}

type Meanings = (ContactColumn | '')[]
type Chosen = { file: File; look: CsvLook }

function ImportForm({ onStarted }: { onStarted(id: string): void }) {
  const [chosen, setChosen] = useState<Chosen>()
  const [meanings, setMeanings] = useState<Meanings>([])
  const form = useApiForm('POST /contacts/import', {
    initial: { updateIfExists: false, content: new Blob() },
    call: ({ updateIfExists, content }) => ({
      query: { fileName: chosen?.file.name ?? '', updateIfExists },
      file: new Blob([content], { type: 'text/csv' }),
    }),
    success: words.importStarted,
    alsoStale: ['imports'],
    onSuccess: ({ id }) => onStarted(id),
  })
  const prepare = async (look: CsvLook, file: File, next: Meanings) => {
    setMeanings(next)
    form.set({ content: look.ok ? await withMeanings(file, look, next) : file })
  }
  const choose = async (file: File | null) => {
    if (file === null) return setChosen(undefined)
    const look = await lookInto(file)
    setChosen({ file, look })
    return await prepare(look, file, look.ok ? look.columns.map(({ meaning }) => meaning) : [])
  }
  const look = chosen?.look
  const isReady = look?.ok === true && findProblem(meanings) === undefined
  return (
    <Panel>
      <FormFrame form={form} submitLabel={words.start} canSubmit={isReady}>
        <FileInput
          label={words.file}
          description={words.fileHint}
          placeholder={words.chooseFile}
          accept=".csv,.txt,text/csv,text/plain"
          leftSection={<IconFileTypeCsv size={18} aria-hidden />}
          clearable
          clearButtonProps={{ 'aria-label': words.clearFile }}
          value={chosen?.file ?? null}
          error={form.errorOf('body')}
          onChange={(file) => void choose(file)}
        />
        {look && !look.ok && (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert">
            {look.reason === 'spreadsheet' ? words.isSpreadsheet : words.isEmpty}
          </Alert>
        )}
        {look?.ok && (
          <Mapping
            look={look}
            meanings={meanings}
            onChange={(next) => void prepare(look, chosen!.file, next)}
          />
        )}
        <Switch label={words.update} description={words.updateHint} {...form.check('updateIfExists')} />
        {form.isSaving && <ProgressBar label={words.sending} done={0} total={undefined} />}
      </FormFrame>
    </Panel>
  )
}

type Job = ItemOf<'GET /imports'>

const tones: Record<Job['state'], Tone> = {
  uploading: 'info',
  queued: 'neutral',
  running: 'info',
  done: 'good',
  failed: 'bad',
}

const columns: readonly Column<Job>[] = [
  {
    header: words.importFile,
    isTitle: true,
    cell: ({ id, fileName }) => (
      <AppLink
        to="/contacts/import"
        search={{ job: id } as never}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
      >
        {fileName}
      </AppLink>
    ),
  },
  {
    header: words.importState,
    cell: ({ state }) => <Tag tone={tones[state]}>{text.imports.states[state]}</Tag>,
  },
  {
    header: words.importResult,
    cell: ({ progress: { added = 0, changed = 0, bad = 0 } }) =>
      words.resultOf(formatNumber(added ?? 0), formatNumber(changed ?? 0), formatNumber(bad ?? 0)),
  },
  { header: words.importBy, cell: ({ createdBy }) => createdBy },
  { header: words.importAt, cell: ({ createdAt }) => <Instant at={createdAt} /> },
]

/** Those of restriction lists are shown with their list. */
function RecentImports() {
  const query = useApiQuery('/imports', { query: { limit: 20 } })
  const items = query.data?.items.filter(({ kind }) => kind === 'contacts').slice(0, 5)
  if (items === undefined || items.length === 0) return null
  return (
    <Stack gap="xs">
      <h2 style={{ margin: 0, fontSize: '1.0625rem' }}>{words.recentImports}</h2>
      <DataTable
        label={words.recentImports}
        columns={columns}
        query={{ ...query, data: { items } }}
        rowKey={({ id }) => id}
      />
    </Stack>
  )
}
