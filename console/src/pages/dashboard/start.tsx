/** For newcomers: shown until the first message is there. */
import { Text } from '@mantine/core'
import { AppLink } from '../../components/app-link.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiQuery } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import classes from './start.module.css'

const words = text.dashboard

export function Start() {
  const { data } = useApiQuery('/messages', { query: { limit: 1 } })
  const can = useCan()
  if (data === undefined || data.items.length > 0) return null
  const steps = words.steps.filter(({ to }) => to !== '/sandbox' || can('GET /sandbox'))
  return (
    <Panel title={words.start}>
      <Text size="sm">{words.startHint}</Text>
      <ol className={classes['steps']}>
        {steps.map(({ to, label, hint }) => (
          <li key={to}>
            <AppLink to={to} fw={600} inherit>
              {label}
            </AppLink>
            <div>{hint}</div>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
