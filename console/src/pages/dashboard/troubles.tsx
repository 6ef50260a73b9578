/** The latest messages that failed, were refused, or whose outcome nobody knows. */
import { Group, SegmentedControl, Skeleton, Text } from '@mantine/core'
import { AppLink } from '../../components/app-link.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { ChannelLabel } from '../../components/state-badge.tsx'
import { useSearchParam } from '../../hooks/use-search-param.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import classes from './troubles.module.css'

const words = text.dashboard
type Trouble = keyof typeof words.troubleStates

export function Troubles() {
  const [state, setState] = useSearchParam<Trouble>('trouble', 'failed')
  const { data, error, refetch } = useApiQuery(
    '/messages',
    { query: { state, limit: 6 } },
    { keepsFormer: true },
  )
  return (
    <Panel
      title={words.troubles}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={words.troubles}
          value={state}
          onChange={(value) => setState(value as Trouble)}
          data={Object.entries(words.troubleStates).map(([value, label]) => ({ value, label }))}
        />
      }
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => refetch()} />
      ) : data === undefined ? (
        <Skeleton height={120} />
      ) : data.items.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.noTrouble[state]}
        </Text>
      ) : (
        <>
          <ul className={classes['list']}>
            {data.items.map((message) => (
              <li key={message.id}>
                <Group gap="xs" justify="space-between" wrap="nowrap">
                  <AppLink to="/messages/$id" params={{ id: message.id }} inherit truncate>
                    {message.recipient}
                  </AppLink>
                  <Text span size="xs" c="dimmed">
                    <Instant at={message.acceptedAt} />
                  </Text>
                </Group>
                <div className={classes['why']}>
                  <ChannelLabel channel={message.channel} />
                  <span className={classes['reason']}>
                    {message.refusal ?? message.errorMessage ?? message.errorCode ?? message.preview}
                  </span>
                </div>
              </li>
            ))}
          </ul>
          <AppLink to="/messages" search={{ state } as never} size="sm">
            {words.showAll}
          </AppLink>
        </>
      )}
    </Panel>
  )
}
