/** One line: how it is doing, its settings, a real test, and what happened to it. */
import { Button, Group, Stack, Tabs } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { AppLink } from '../../components/app-link.tsx'
import { Can } from '../../components/can.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Page } from '../../components/page.tsx'
import { PageLoading } from '../../components/page-loading.tsx'
import { ChannelLabel } from '../../components/state-badge.tsx'
import { Tag } from '../../components/tag.tsx'
import { useTab } from '../../hooks/use-tab.ts'
import { useApiMutation, useApiQuery } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import { addressOf, useLanes, type OneLine } from './lanes.ts'
import { LineHistory } from './line-history.tsx'
import { LineOverview } from './line-overview.tsx'
import { LineSettings } from './line-settings.tsx'
import { PauseButton } from './pause-button.tsx'
import { TestLine } from './test-line.tsx'

const words = text.channels

export function ChannelLine() {
  const { id } = useParams({ from: '/shell/channels/$id' })
  const { data, version, error, refetch } = useApiQuery('/lines/:id', { path: { id } })
  const lanes = useLanes()
  return (
    <Page
      title={data?.name ?? words.line}
      needs="GET /lines/:id"
      back={<AppLink to="/channels">{words.backToChannels}</AppLink>}
      lead={data && <Lead line={data} />}
      actions={data && <Actions line={data} isPaused={(lanes.get(id) ?? data).isPaused} />}
    >
      {error ? (
        <ErrorState error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <PageLoading />
      ) : (
        <Sections line={data} version={version} lane={lanes.get(id)} />
      )}
    </Page>
  )
}

const Lead = ({ line }: { line: OneLine }) => (
  <Group gap="xs" mt={4}>
    <ChannelLabel channel={line.channel} />
    <span>{addressOf(line)}</span>
    {line.isDefault && <Tag tone="info">{words.isDefault}</Tag>}
    {line.isProspect && <Tag>{words.isProspect}</Tag>}
  </Group>
)

function Actions({ line, isPaused }: { line: OneLine; isPaused: boolean }) {
  const { id, name } = line
  const makeDefault = useApiMutation('POST /lines/:id/default', { success: words.madeDefault(name) })
  return (
    <>
      {!line.isDefault && (
        <Can do="POST /lines/:id/default">
          <Button
            variant="default"
            title={words.makeDefaultHint}
            loading={makeDefault.isPending}
            onClick={() => makeDefault.mutate({ path: { id } })}
          >
            {words.makeDefault}
          </Button>
        </Can>
      )}
      <PauseButton line={line} isPaused={isPaused} />
    </>
  )
}

type SectionsProps = {
  line: OneLine
  version: string | undefined
  lane: Parameters<typeof LineOverview>[0]['lane']
}

function Sections({ line, version, lane }: SectionsProps) {
  const can = useCan()
  const tabs = [
    'overview' as const,
    ...(can('PATCH /lines/:id') ? (['settings'] as const) : []),
    ...(can('POST /lines/:id/test') ? (['test'] as const) : []),
    ...(can('GET /alerts') ? (['history'] as const) : []),
  ]
  const [tab, setTab] = useTab(tabs)
  return (
    <Tabs value={tab} onChange={setTab} keepMounted={false}>
      {tabs.length > 1 && (
        <Tabs.List mb="md">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      )}
      <Stack gap="md">
        <Tabs.Panel value="overview">
          <LineOverview line={line} lane={lane} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          {/* Made anew when somebody has changed the line: the form then starts from what is there now. */}
          <LineSettings key={version} line={line} version={version} />
        </Tabs.Panel>
        <Tabs.Panel value="test">
          <TestLine line={line} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <LineHistory id={line.id} />
        </Tabs.Panel>
      </Stack>
    </Tabs>
  )
}
