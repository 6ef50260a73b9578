/** The live events of the admin API. The browser comes back by itself when the stream ends. */
import { useEffect, useRef, useState } from 'react'
import type { AnswerOf, ItemOf } from '../api.ts'
import { urlOf } from '../api.ts'

/** As `src/http/admin/live.ts` tells them. */
export type LiveEvents = {
  /** A new message. */
  message: Pick<ItemOf<'GET /messages'>, 'id' | 'channel' | 'state' | 'recipient' | 'lineId' | 'acceptedAt'>
  /** Somebody wrote to us; null: nobody knows who. */
  received: { id: string; contactId: string | null; lineId: string; kind: string; at: string }
  /** What was counted since the last one. */
  outcome: {
    channel: ItemOf<'GET /messages'>['channel']
    lineId: string | null
    outcome: string
    count: number
  }
  /** Of a watched message. */
  state: { id: string; state: AnswerOf<'GET /messages/:id'>['state'] }
  /** A line that changed. */
  lane: ItemOf<'GET /lanes'>
}

export type LiveHandlers = { [E in keyof LiveEvents]?: (event: LiveEvents[E]) => void }

export type LiveState = 'connecting' | 'live' | 'waiting'

/** Handlers may change between renders without a new connection. `watch` names messages whose states are told. */
export function useLive(
  handlers: LiveHandlers,
  { isOn = true, watch = [] }: { isOn?: boolean; watch?: readonly string[] } = {},
): LiveState {
  const [state, setState] = useState<LiveState>('connecting')
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  const watched = watch.join(',')
  useEffect(() => {
    if (!isOn) return undefined
    const source = new EventSource(urlOf('GET /events', { query: { watch: watched } }))
    source.addEventListener('open', () => setState('live'))
    source.addEventListener('error', () => setState('waiting'))
    for (const name of ['message', 'received', 'outcome', 'state', 'lane'] as const)
      source.addEventListener(name, (event) => {
        const handle = latest.current[name] as ((event: unknown) => void) | undefined
        handle?.(JSON.parse((event as MessageEvent<string>).data))
      })
    return () => source.close()
  }, [isOn, watched])
  return state
}
