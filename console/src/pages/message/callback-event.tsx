/** One attempt to tell a receiver. */
import { AppLink } from '../../components/app-link.tsx'
import { formatDuration } from '../../format.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import type { MessageEvent } from './event.tsx'

const words = text.timeline

type Told = {
  callbackId?: number | string
  event?: string
  url?: string
  attempt?: number
  status?: number
  error?: string
  durationMs?: number
}

export function CallbackEvent({ event: { detail } }: { event: MessageEvent }) {
  const can = useCan()
  const told = detail as Told
  const answer = [
    told.status !== undefined && words.callbackAnswered(told.status),
    told.error,
    told.durationMs !== undefined && formatDuration(told.durationMs),
    told.attempt !== undefined && told.attempt > 1 && words.callbackAttempt(told.attempt),
  ].filter((part) => part !== undefined && part !== false && part !== '')
  return (
    <>
      <div>
        <code>{words.callbackEvent(told.event ?? '')}</code> {answer.join(', ')}
      </div>
      {told.url && <div>{told.url}</div>}
      {told.callbackId !== undefined && can('GET /callbacks') && (
        <div>
          <AppLink to="/callbacks/$id" params={{ id: String(told.callbackId) }} inherit>
            {words.toCallback}
          </AppLink>
        </div>
      )}
    </>
  )
}
