/** What the person wants to receive. Each switch is saved at once. */
import { Alert, Button, Stack, Switch, Text } from '@mantine/core'
import { IconMailX } from '@tabler/icons-react'
import type { AnswerOf, BodyOf } from '../../api.ts'
import { Can } from '../../components/can.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiMutation } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'

const words = text.contacts
const channels = ['whatsapp', 'sms', 'email'] as const
type Contact = AnswerOf<'GET /contacts/:id'>

export function OptOutsPanel({ contact, version }: { contact: Contact; version: string | undefined }) {
  const { id, optedOutChannels, marketingOptedOutAt, emailBouncedAt } = contact
  const can = useCan()
  const change = useApiMutation('PATCH /contacts/:id', { success: words.optOutsChanged })
  const clear = useApiMutation('POST /contacts/:id/clear-bounce', { success: words.bounceCleared })
  const isFixed = !can('PATCH /contacts/:id') || change.isPending
  const save = (body: BodyOf<'PATCH /contacts/:id'>) => change.mutate({ path: { id }, body, version })
  return (
    <Panel title={words.optOuts}>
      <Stack gap="xs">
        {emailBouncedAt && (
          <Alert color="red" icon={<IconMailX aria-hidden />} title={words.bouncedTitle}>
            <Text size="sm">
              {words.bouncedHint} <Instant at={emailBouncedAt} />
            </Text>
            <Can do="POST /contacts/:id/clear-bounce">
              <Button
                variant="default"
                size="xs"
                mt="xs"
                loading={clear.isPending}
                onClick={() => clear.mutate({ path: { id } })}
              >
                {words.clearBounce}
              </Button>
            </Can>
          </Alert>
        )}
        {channels.map((channel) => (
          <Switch
            key={channel}
            label={words.channelSwitch(text.common.channels[channel])}
            checked={!optedOutChannels.includes(channel)}
            disabled={isFixed}
            onChange={({ currentTarget: { checked } }) =>
              save({
                optedOutChannels: channels.filter((one) =>
                  one === channel ? !checked : optedOutChannels.includes(one),
                ),
              })
            }
          />
        ))}
        <Switch
          label={words.marketingSwitch}
          description={
            marketingOptedOutAt && (
              <>
                {words.marketingSince} <Instant at={marketingOptedOutAt} />
              </>
            )
          }
          checked={!marketingOptedOutAt}
          disabled={isFixed}
          onChange={({ currentTarget: { checked } }) => save({ isMarketingOptedOut: !checked })}
        />
        <Text size="xs" c="dimmed">
          {words.optOutsHint}
        </Text>
      </Stack>
    </Panel>
  )
}
