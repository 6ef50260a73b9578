/** What needs attention, with the way to it. */
import { Skeleton, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import type { ItemOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { Instant } from '../../components/instant.tsx'
import { Notice } from '../../components/notice.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import classes from './alerts.module.css'

const words = text.dashboard
type OpenAlert = ItemOf<'GET /alerts'>

export function Alerts() {
  const { data, error, refetch } = useApiQuery(
    '/alerts',
    { query: { isOpen: true, limit: 10 } },
    { everyMs: 20_000 },
  )
  return (
    <Panel title={words.alerts}>
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => refetch()} />
      ) : data === undefined ? (
        <Skeleton height={40} />
      ) : data.items.length === 0 ? (
        <Text size="sm" className={classes['calm']}>
          <IconCircleCheck size={18} aria-hidden /> {words.noAlerts}
        </Text>
      ) : (
        <div className={classes['list']}>
          {data.items.map((alert) => (
            <OneAlert key={alert.id} alert={alert} />
          ))}
          <Text size="xs" c="dimmed">
            {words.alertsHint} {data.nextCursor !== null && words.moreAlerts}
          </Text>
        </div>
      )}
    </Panel>
  )
}

const OneAlert = ({ alert }: { alert: OpenAlert }) => (
  <Notice tone="bad" icon={IconAlertTriangle} title={words.alertKinds[alert.kind] ?? words.alertOther}>
    <div>{alert.message}</div>
    <div className={classes['foot']}>
      <Instant at={alert.raisedAt} />
      <Way alert={alert} />
    </div>
  </Notice>
)

/** Alerts about lines name them by their bare id. */
function Way({ alert: { kind, subject } }: { alert: OpenAlert }) {
  switch (kind) {
    case 'lane_too_old':
    case 'line_paused':
      return (
        <AppLink to="/channels/$id" params={{ id: `lin_${subject.replaceAll('-', '')}` }} inherit>
          {words.toLine}
        </AppLink>
      )
    case 'callback_endpoint_dead':
      return (
        <AppLink to="/callbacks" inherit>
          {words.toCallbacks}
        </AppLink>
      )
    case 'webhook_gone':
      return (
        <AppLink to="/settings/company" inherit>
          {words.toWebhook}
        </AppLink>
      )
    default:
      return null
  }
}
