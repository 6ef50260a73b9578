/** An instant in the viewer's zone: how long ago, and exactly when on hover or focus. */
import { Tooltip } from '@mantine/core'
import { useEffect, useState } from 'react'
import { formatExact, formatRelative, formatShort } from '../format.ts'
import { text } from '../text/index.ts'

type InstantProps = {
  at: string | null | undefined
  /** `relative`: 5 minutes ago; `short`: 14 Nov, 10:32. */
  as?: 'relative' | 'short'
}

const everyMs = 30_000

export function Instant({ at, as = 'relative' }: InstantProps) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [])
  if (!at) return text.common.none
  const date = new Date(at)
  const shown = as === 'short' ? formatShort(date) : formatRelative(date, Math.max(now, Date.now() - everyMs))
  return (
    <Tooltip label={formatExact(date)}>
      <time dateTime={date.toISOString()} style={{ whiteSpace: 'nowrap' }}>
        {shown}
      </time>
    </Tooltip>
  )
}
