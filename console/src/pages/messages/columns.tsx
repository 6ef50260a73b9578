/** The columns of the message log. */
import { Text } from '@mantine/core'
import type { ItemOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import type { Column } from '../../components/data-table.tsx'
import { Instant } from '../../components/instant.tsx'
import { ChannelLabel, StateBadge } from '../../components/state-badge.tsx'
import { text } from '../../text/index.ts'
import classes from './columns.module.css'

const words = text.messages
export type ListedMessage = ItemOf<'GET /messages'>

export const columns: readonly Column<ListedMessage>[] = [
  {
    header: words.recipient,
    isTitle: true,
    cell: ({ id, recipient }) => (
      <AppLink to="/messages/$id" params={{ id }} aria-label={words.openOf(recipient)} fw={500} inherit>
        {recipient}
      </AppLink>
    ),
  },
  { header: words.state, cell: ({ state }) => <StateBadge state={state} />, width: 100 },
  {
    header: words.channel,
    cell: ({ channel }) => <ChannelLabel channel={channel} />,
    width: 120,
  },
  { header: words.content, cell: (message) => <Content message={message} /> },
  { header: words.line, cell: ({ lineName, lineId }) => <Name name={lineName} id={lineId} /> },
  {
    header: words.template,
    cell: ({ templateName, templateId }) =>
      templateId === null ? (
        <Text span inherit c="dimmed">
          {words.noTemplate}
        </Text>
      ) : (
        <Name name={templateName} id={templateId} />
      ),
  },
  { header: words.accepted, cell: ({ acceptedAt }) => <Instant at={acceptedAt} as="short" />, width: 140 },
]

/** A record that is gone has no name any more; its id is better than nothing. */
const Name = ({ name, id }: { name: string | null; id: string | null }) =>
  name ?? (id === null ? text.common.none : <code>{id.slice(0, 12)}…</code>)

function Content({ message: { preview, refusal, errorCode, errorMessage } }: { message: ListedMessage }) {
  const trouble =
    refusal ?? [errorCode, errorMessage].filter((part) => part !== null && part !== '').join(': ')
  return (
    <div className={classes['content']}>
      <div className={classes['preview']} dir="auto">
        {preview === '' ? (
          <Text span inherit c="dimmed">
            {words.noContent}
          </Text>
        ) : (
          preview
        )}
      </div>
      {trouble !== '' && <div className={classes['error']}>{trouble}</div>}
    </div>
  )
}
