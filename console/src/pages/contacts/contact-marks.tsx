import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ItemOf } from '../../api.ts'
import type { Channel } from '../../components/state-badge.tsx'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'

const words = text.contacts
type Contact = Pick<
  ItemOf<'GET /contacts'>,
  'optedOutChannels' | 'marketingOptedOutAt' | 'emailBouncedAt' | 'tag'
>

/** What keeps messages from a person, and their tag. */
export function ContactMarks({ contact, none = null }: { contact: Contact; none?: ReactNode }) {
  const { optedOutChannels, marketingOptedOutAt, emailBouncedAt, tag } = contact
  if (optedOutChannels.length === 0 && !marketingOptedOutAt && !emailBouncedAt && !tag) return none
  return (
    <Group gap={4} component="span">
      {tag && <Tag>{tag.length > 30 ? `${tag.slice(0, 30)}…` : tag}</Tag>}
      {optedOutChannels.length > 0 && (
        <Tag tone="warn">
          {words.optedOutOf(
            optedOutChannels.map((channel) => text.common.channels[channel as Channel]).join(', '),
          )}
        </Tag>
      )}
      {marketingOptedOutAt && <Tag tone="warn">{words.noMarketing}</Tag>}
      {emailBouncedAt && <Tag tone="bad">{words.bounced}</Tag>}
    </Group>
  )
}
