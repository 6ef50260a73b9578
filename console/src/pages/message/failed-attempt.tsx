/** An attempt that the provider did not take: what it means, the provider's own words, and the exchange. */
import { ExchangeView } from '../../components/json-view.tsx'
import { formatDuration } from '../../format.ts'
import { text } from '../../text/index.ts'
import type { MessageEvent } from './event.tsx'

const words = text.timeline
/** As drivers tell it; a receipt's has no kind. */
export type ToldError = {
  kind?: keyof typeof words.errors
  code: string
  message?: string
  retryAfterMs?: number
}

export function ProviderError({ error: { kind, code, message, retryAfterMs } }: { error: ToldError }) {
  return (
    <>
      {kind !== undefined && kind in words.errors && <div>{words.errors[kind]}</div>}
      <div>
        <code>{code}</code>
        {message && ` ${message}`}
      </div>
      {retryAfterMs !== undefined && (
        <div>
          {words.retryAfter} {formatDuration(retryAfterMs)}
        </div>
      )}
    </>
  )
}

export function FailedAttempt({ event: { detail } }: { event: MessageEvent }) {
  const error = detail['error'] as ToldError | undefined
  const exchange = detail['exchange'] as { request?: string; response?: string } | undefined
  return (
    <>
      {error && <ProviderError error={error} />}
      {exchange && (
        <details>
          <summary>{words.exchange}</summary>
          <ExchangeView
            parts={[
              { label: words.request, value: exchange.request },
              { label: words.response, value: exchange.response },
            ]}
          />
        </details>
      )}
    </>
  )
}
