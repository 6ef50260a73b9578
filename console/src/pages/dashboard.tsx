/** How messages are doing: volumes, outcomes, lines, alerts and recent trouble, live. */
import { Grid, Group, SegmentedControl, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { LinkButton } from '../components/app-link.tsx'
import { Page } from '../components/page.tsx'
import { Panel } from '../components/panel.tsx'
import { Tag } from '../components/tag.tsx'
import { useLive } from '../hooks/use-live.ts'
import { useSearchParam } from '../hooks/use-search-param.ts'
import { useThrottled } from '../hooks/use-throttled.ts'
import { useCan } from '../session.ts'
import { text } from '../text/index.ts'
import { Alerts } from './dashboard/alerts.tsx'
import { Lanes, rememberLane } from './dashboard/lanes.tsx'
import { Start } from './dashboard/start.tsx'
import { Troubles } from './dashboard/troubles.tsx'
import { Volume, type DashboardRange } from './dashboard/volume.tsx'

const words = text.dashboard
/** Counters and lists are asked for at most this often, however much happens. */
const refreshMs = 3_000

export function Dashboard() {
  const can = useCan()
  const client = useQueryClient()
  const [range, setRange] = useSearchParam<DashboardRange>('range', 'day')
  const refresh = useThrottled(() => {
    void client.invalidateQueries({ queryKey: ['reports'] })
    void client.invalidateQueries({ queryKey: ['messages'] })
  }, refreshMs)
  const live = useLive({ message: refresh, outcome: refresh, lane: (lane) => rememberLane(client, lane) })
  const actions = (
    <>
      <Tag tone={live === 'live' ? 'good' : 'neutral'}>
        {live === 'waiting' ? words.liveWaiting : words.live}
      </Tag>
      {can('GET /reports') && (
        <SegmentedControl
          aria-label={words.range}
          value={range}
          onChange={(value) => setRange(value as DashboardRange)}
          data={Object.entries(words.ranges).map(([value, label]) => ({ value, label }))}
        />
      )}
    </>
  )
  return (
    <Page title={words.title} lead={words.lead} needs="GET /events" actions={actions}>
      <Start />
      {can('GET /reports') && <Volume range={range} />}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 7 }} order={{ base: 2, lg: 1 }}>
          <Stack gap="md">{can('GET /lanes') ? <Lanes /> : <ForAttendants />}</Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }} order={{ base: 1, lg: 2 }}>
          <Stack gap="md">
            {can('GET /alerts') && <Alerts />}
            <Troubles />
          </Stack>
        </Grid.Col>
      </Grid>
    </Page>
  )
}

/** Attendants see people and their messages, not how the company is doing. */
const ForAttendants = () => (
  <Panel title={words.forAttendants}>
    <Group>
      <LinkButton to="/attendance">{words.toAttendance}</LinkButton>
    </Group>
  </Panel>
)
