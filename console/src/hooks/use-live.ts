/**
 * The live events of the admin API. However many parts of a page listen, there is one stream: a browser has few
 * connections per server, and a second stream would take them from everything else. None while nobody looks.
 */
import { useEffect, useRef, useState } from 'react'
import type { AnswerOf, ItemOf } from '../api.ts'
import { urlOf } from '../api.ts'

/** As `src/http/admin/live.ts` tells them. */
export type LiveEvents = {
  /** A new message. */
  message: Pick<
    ItemOf<'GET /messages'>,
    'id' | 'api' | 'channel' | 'state' | 'recipient' | 'lineId' | 'acceptedAt'
  >
  /** Somebody wrote to us; null: nobody knows who. */
  received: { id: string; contactId: string | null; lineId: string; kind: string; at: string }
  /** What was counted since the last one. */
  outcome: Record<string, unknown> & { lineId: string | null }
  /** Of a watched message. */
  state: { id: string; state: AnswerOf<'GET /messages/:id'>['state'] }
  /** A line that changed. */
  lane: ItemOf<'GET /lanes'>
}

const names = ['message', 'received', 'outcome', 'state', 'lane'] as const

export type LiveHandlers = { [E in keyof LiveEvents]?: (event: LiveEvents[E]) => void } & {
  /** The stream began, or began again: what was told in between was missed. */
  opened?: () => void
}

export type LiveState = 'connecting' | 'live' | 'waiting'

type Listener = {
  watch: readonly string[]
  tell(name: keyof LiveEvents, event: unknown): void
  onState(state: LiveState): void
  onOpen(): void
}

const listeners = new Set<Listener>()
let source: EventSource | undefined
let sourceUrl: string | undefined
let state: LiveState = 'connecting'
let isPlanned = false

/** The server watches no more than this many for one page. */
const mostWatched = 100

/** After all parts of a page have said what they want. */
function plan(): void {
  if (isPlanned) return
  isPlanned = true
  queueMicrotask(() => {
    isPlanned = false
    connect()
  })
}

function connect(): void {
  const isWanted = listeners.size > 0 && !document.hidden
  const watch = [...new Set([...listeners].flatMap((listener) => listener.watch))].toSorted()
  const url = isWanted ? urlOf('GET /events', { query: { watch: watch.slice(-mostWatched) } }) : undefined
  if (url === sourceUrl) return
  source?.close()
  sourceUrl = url
  source = undefined
  if (url === undefined) return
  const opened = new EventSource(url)
  source = opened
  opened.addEventListener('open', () => {
    setState('live')
    for (const listener of listeners) listener.onOpen()
  })
  // The browser comes back by itself when the stream ends.
  opened.addEventListener('error', () => setState('waiting'))
  for (const name of names)
    opened.addEventListener(name, (event) => {
      const data: unknown = JSON.parse((event as MessageEvent<string>).data)
      for (const listener of listeners) listener.tell(name, data)
    })
}

function setState(next: LiveState): void {
  state = next
  for (const listener of listeners) listener.onState(next)
}

document.addEventListener('visibilitychange', plan)

/** Handlers may change between renders without a new connection. `watch` names messages whose states are told. */
export function useLive(
  handlers: LiveHandlers,
  { isOn = true, watch = [] }: { isOn?: boolean; watch?: readonly string[] } = {},
): LiveState {
  const [shown, setShown] = useState<LiveState>(state)
  const latest = useRef(handlers)
  useEffect(() => {
    latest.current = handlers
  })
  const watched = watch.join(',')
  useEffect(() => {
    if (!isOn) return undefined
    const listener: Listener = {
      watch: watched === '' ? [] : watched.split(','),
      tell: (name, event) => (latest.current[name] as ((event: unknown) => void) | undefined)?.(event),
      onState: setShown,
      onOpen: () => latest.current.opened?.(),
    }
    listeners.add(listener)
    plan()
    return () => {
      listeners.delete(listener)
      plan()
    }
  }, [isOn, watched])
  return shown
}
