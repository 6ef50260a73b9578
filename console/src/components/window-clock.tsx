/** How long free text may still be sent on WhatsApp, ticking. */
import { Tooltip } from '@mantine/core'
import { IconClock, IconClockOff } from '@tabler/icons-react'
import { formatExact, formatRelative } from '../format.ts'
import { useNow } from '../hooks/use-now.ts'
import { text } from '../text/index.ts'
import { Tag } from './tag.tsx'

const words = text.conversation
const hourMs = 3_600_000

/** `closesAt` null: the person never wrote. */
export function WindowClock({ closesAt, label }: { closesAt: string | null; label?: string }) {
  const now = useNow()
  const at = closesAt === null ? undefined : new Date(closesAt)
  const leftMs = at ? at.getTime() - now : 0
  const prefix = label ? `${label}: ` : ''
  if (at === undefined || leftMs <= 0)
    return (
      <Tooltip label={at ? words.closedAt(formatExact(at)) : words.neverWrote}>
        <span>
          <Tag tone="neutral">
            <IconClockOff size={13} aria-hidden />
            {prefix}
            {at ? words.windowClosed(formatRelative(at, now)) : words.windowNever}
          </Tag>
        </span>
      </Tooltip>
    )
  return (
    <Tooltip label={words.closesAt(formatExact(at))}>
      <span role="timer" aria-live="off">
        <Tag tone={leftMs < hourMs ? 'warn' : 'good'}>
          <IconClock size={13} aria-hidden />
          {prefix}
          {words.windowOpen(clock(leftMs))}
        </Tag>
      </span>
    </Tooltip>
  )
}

/** 23:59:07. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** Whether free text may be sent now, by any of these windows or by this one. */
export const isWindowOpen = (closesAt: string | null | undefined, now: number): boolean =>
  closesAt !== null && closesAt !== undefined && new Date(closesAt).getTime() > now
