/** The lines: what waits, what is under way, and how each is doing. */
import { Text } from '@mantine/core'
import type { QueryClient } from '@tanstack/react-query'
import type { Answered, ItemOf } from '../../api.ts'
import { AppLink, LinkButton } from '../../components/app-link.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { ChannelLabel } from '../../components/state-badge.tsx'
import { Tag, type Tone } from '../../components/tag.tsx'
import { Can } from '../../components/can.tsx'
import { formatNumber } from '../../format.ts'
import { keyOf, useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'

const words = text.dashboard
type Lane = ItemOf<'GET /lanes'>

/** The server counts no further. */
const countedUpTo = 10_000
const counted = (count: number): string =>
  count >= countedUpTo ? words.atLeast(formatNumber(countedUpTo)) : formatNumber(count)

/** Puts what was told live where the query keeps it. */
export function rememberLane(client: QueryClient, lane: Lane): void {
  client.setQueryData<Answered<'GET /lanes'>>(
    keyOf('GET /lanes'),
    (before) =>
      before && {
        ...before,
        data: { items: before.data.items.map((one) => (one.lineId === lane.lineId ? lane : one)) },
      },
  )
}

type LineState = keyof typeof words.lineStates
const tones: Record<LineState, Tone> = {
  disabled: 'neutral',
  paused: 'warn',
  undriven: 'bad',
  down: 'bad',
  held: 'warn',
  up: 'good',
  idle: 'good',
}

function stateOf(lane: Lane): LineState {
  if (!lane.isEnabled) return 'disabled'
  if (lane.isPaused) return 'paused'
  if (!lane.isDriven) return 'undriven'
  if (lane.isUp === false) return 'down'
  if (lane.heldUntil !== null && Date.parse(lane.heldUntil) > Date.now()) return 'held'
  return lane.depth + lane.inFlight > 0 ? 'up' : 'idle'
}

/** Why it is not simply working, in the words of who knows. */
const reasonOf = (lane: Lane, state: LineState): string | null => {
  if (state === 'paused') return lane.pausedReason
  if (state === 'down') return lane.lastError?.message ?? lane.healthDetail
  return state === 'held' ? (lane.lastError?.message ?? null) : null
}

const columns: readonly Column<Lane>[] = [
  {
    header: words.line,
    isTitle: true,
    cell: ({ lineId, name }) => (
      <AppLink to="/channels/$id" params={{ id: lineId }} inherit>
        {name}
      </AppLink>
    ),
  },
  { header: words.channel, cell: ({ channel }) => <ChannelLabel channel={channel} /> },
  { header: words.health, cell: (lane) => <Health lane={lane} /> },
  { header: words.queue, align: 'right', cell: (lane) => <Queue lane={lane} /> },
  {
    header: words.inFlight,
    align: 'right',
    cell: ({ inFlight, inFlightLimit }) =>
      words.inFlightOf(formatNumber(inFlight), formatNumber(inFlightLimit)),
  },
  { header: words.deferred, align: 'right', cell: ({ deferred }) => counted(deferred) },
  {
    header: words.rate,
    align: 'right',
    cell: ({ ratePerSecond }) => words.rateOf(formatNumber(ratePerSecond)),
  },
]

export function Lanes() {
  const query = useApiQuery('/lanes', {}, { everyMs: 30_000 })
  return (
    <Panel title={words.lanes}>
      <DataTable
        label={words.lanes}
        columns={columns}
        query={query}
        rowKey={({ lineId }) => lineId}
        empty={
          <>
            <Text size="sm" c="dimmed" mb="sm">
              {words.noLines}
            </Text>
            <Can do="POST /lines">
              <LinkButton to="/channels">{words.toChannels}</LinkButton>
            </Can>
          </>
        }
      />
    </Panel>
  )
}

function Health({ lane }: { lane: Lane }) {
  const state = stateOf(lane)
  const reason = reasonOf(lane, state)
  return (
    <div>
      <Tag tone={tones[state]}>{words.lineStates[state]}</Tag>
      {reason && (
        <Text size="xs" c="dimmed" maw={240} style={{ overflowWrap: 'anywhere' }}>
          {reason}
        </Text>
      )}
    </div>
  )
}

const Queue = ({ lane: { depth, oldestDueAt } }: { lane: Lane }) => (
  <div>
    {counted(depth)}
    {oldestDueAt !== null && (
      <Text size="xs" c="dimmed">
        {words.queueSince} <Instant at={oldestDueAt} />
      </Text>
    )}
  </div>
)
