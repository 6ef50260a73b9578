/** Everything that happened to a message, oldest first. */
import { Text } from '@mantine/core'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'
import { EventDetail, titleOf, toneOf } from './event.tsx'
import classes from './timeline.module.css'

const words = text.timeline

export function Timeline({ message }: { message: MessageDetail }) {
  return (
    <Panel title={words.title}>
      {message.events.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.empty}
        </Text>
      ) : (
        <ol className={classes['timeline']} aria-label={words.title}>
          {message.events.map((event, index) => (
            <li key={`${index} ${event.kind}`} data-tone={toneOf(event)}>
              <div className={classes['head']}>
                <span className={classes['title']}>{titleOf(event)}</span>
                <Text span size="xs" c="dimmed">
                  <Instant at={event.at} as="short" />
                </Text>
              </div>
              <div className={classes['body']}>
                <EventDetail event={event} message={message} />
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}
