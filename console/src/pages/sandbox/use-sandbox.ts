/** What the sandbox holds, kept up to date by its events. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { urlOf, type Answered, type ApiError } from '../../api.ts'
import type { LiveState } from '../../hooks/use-live.ts'
import { keyOf, useApiQuery } from '../../queries.ts'
import type { SandboxMessage } from './messages.ts'

export type SandboxData = {
  messages: SandboxMessage[] | undefined
  live: LiveState
  error: ApiError | null
  refetch(): unknown
}

/** As many as fit a phone; older ones are found in the message log. */
const params = { query: { limit: 500 } }

export function useSandbox(): SandboxData {
  const client = useQueryClient()
  const { data, error, refetch } = useApiQuery('/sandbox/messages', params)
  const [live, setLive] = useState<LiveState>('connecting')

  useEffect(() => {
    const key = keyOf('GET /sandbox/messages', params)
    const source = new EventSource(urlOf('GET /sandbox/events', {}))
    const change = (with_: (messages: SandboxMessage[]) => SandboxMessage[]) =>
      client.setQueryData<Answered<'GET /sandbox/messages'>>(
        key,
        (old) =>
          old && {
            ...old,
            data: { ...old.data, messages: with_(old.data.messages as SandboxMessage[]) },
          },
      )
    const put = (event: MessageEvent<string>) => {
      const message = JSON.parse(event.data) as SandboxMessage
      change((messages) => [message, ...messages.filter(({ id }) => id !== message.id)].slice(0, 1_000))
    }
    const readAgain = () => void client.invalidateQueries({ queryKey: ['sandbox'] })
    let wasOpen = false
    source.addEventListener('open', () => {
      setLive('live')
      // What was missed while the stream was away.
      if (wasOpen) readAgain()
      wasOpen = true
    })
    source.addEventListener('error', () => setLive('waiting'))
    source.addEventListener('message', put)
    source.addEventListener('status', put)
    source.addEventListener('deleted', (event: MessageEvent<string>) => {
      const { ids } = JSON.parse(event.data) as { ids: string[] }
      const gone = new Set(ids)
      change((messages) => messages.filter(({ id }) => !gone.has(id)))
    })
    source.addEventListener('refresh', readAgain)
    source.addEventListener(
      'callback',
      () => void client.invalidateQueries({ queryKey: keyOf('GET /sandbox/callbacks').slice(0, 2) }),
    )
    return () => source.close()
  }, [client])

  return {
    messages: data?.messages as SandboxMessage[] | undefined,
    live,
    error: data === undefined ? error : null,
    refetch,
  }
}
