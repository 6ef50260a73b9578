import { Group } from '@mantine/core'
import { Instant } from '../../components/instant.tsx'
import { ChannelLabel, StateBadge } from '../../components/state-badge.tsx'
import { text } from '../../text/index.ts'
import type { MessageDetail } from '../message.tsx'

/** Below the title: where it stands, on which channel, since when. */
export const Lead = ({ message: { state, channel, acceptedAt } }: { message: MessageDetail }) => (
  <Group gap="sm" mt={4}>
    <StateBadge state={state} />
    <ChannelLabel channel={channel} />
    <span>
      {text.message.accepted} <Instant at={acceptedAt} />
    </span>
  </Group>
)
