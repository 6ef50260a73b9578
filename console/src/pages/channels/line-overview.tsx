/** How a line is doing now, what it is for, and what to enter at the provider. */
import { Alert, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { AppLink } from '../../components/app-link.tsx'
import { CopyText } from '../../components/copy-text.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { formatCompact, formatNumber } from '../../format.ts'
import { useApiQuery } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { HealthTag } from './health-tag.tsx'
import { addressOf, faultOf, type Lane, type OneLine } from './lanes.ts'
import classes from './channels.module.css'

const words = text.channels

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Of a line that was just made: shown once, with the address that it belongs to. */
    verifyToken?: string
  }
}

export const LineOverview = ({ line, lane }: { line: OneLine; lane: Lane | undefined }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" style={{ alignItems: 'start' }}>
    <HealthPanel line={line} lane={lane} />
    <Stack gap="md">
      <AboutPanel line={line} />
      <HookPanel line={line} />
    </Stack>
  </SimpleGrid>
)

function HealthPanel({ line, lane }: { line: OneLine; lane: Lane | undefined }) {
  const fault = lane && faultOf(lane)
  return (
    <Panel title={words.health}>
      <Stack gap="sm" aria-live="polite">
        <HealthTag line={line} lane={lane} />
        {lane && <Facts lane={lane} />}
        {lane && (
          <dl className={classes['pairs']}>
            {lane.oldestDueAt && (
              <Pair term={words.oldest}>
                <Instant at={lane.oldestDueAt} />
              </Pair>
            )}
            <Pair term={words.lastError}>
              {fault === undefined || lane.lastError === null ? (
                words.noError
              ) : (
                <>
                  {fault}{' '}
                  <Text span size="sm" c="dimmed">
                    <Instant at={lane.lastError.at} />
                  </Text>
                </>
              )}
            </Pair>
          </dl>
        )}
      </Stack>
    </Panel>
  )
}

const Facts = ({ lane }: { lane: Lane }) => (
  <div className={classes['facts']}>
    <Fact label={words.facts.queue} value={formatCompact(lane.depth)} hint={words.facts.queueHint} />
    <Fact
      label={words.facts.underWay}
      value={formatNumber(lane.inFlight)}
      hint={words.facts.window(formatNumber(lane.inFlightLimit))}
    />
    <Fact label={words.facts.held} value={formatCompact(lane.deferred)} hint={words.facts.heldHint} />
    <Fact label={words.facts.rate} value={formatNumber(lane.ratePerSecond)} hint={words.facts.rateHint} />
  </div>
)

const Fact = ({ label, value, hint }: { label: string; value: string; hint: string }) => (
  <div className={classes['fact']}>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <div className={classes['number']}>{value}</div>
    <Text size="xs" c="dimmed">
      {hint}
    </Text>
  </div>
)

const Pair = ({ term, children }: { term: string; children: ReactNode }) => (
  <>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </>
)

function AboutPanel({ line }: { line: OneLine }) {
  const segmentIds = line.segmentIds ?? []
  const failoverIds = line.failoverLineIds ?? []
  const segments = useApiQuery(
    '/segments',
    { query: { limit: 200, sort: 'name' } },
    { isEnabled: segmentIds.length > 0 },
  )
  const lines = useApiQuery(
    '/lines',
    { query: { channel: line.channel, limit: 200, sort: 'name' } },
    { isEnabled: failoverIds.length > 0 },
  )
  const marks = [
    line.isDefault && words.isDefault,
    line.isProspect && words.isProspect,
    line.isEnabled === false && words.states.off,
  ].filter((mark) => typeof mark === 'string')
  const segmentName = (id: string) => segments.data?.items.find((one) => one.id === id)?.name ?? id
  return (
    <Panel title={words.about}>
      <dl className={classes['pairs']}>
        <Pair term={words.channel}>{text.common.channels[line.channel]}</Pair>
        <Pair term={words.address}>
          <CopyText value={addressOf(line)} />
        </Pair>
        <Pair term={words.driver}>{line.driver}</Pair>
        <Pair term={words.marks}>{marks.length === 0 ? words.noMarks : marks.join(', ')}</Pair>
        <Pair term={words.segments}>
          {segmentIds.length === 0 ? words.allSegments : segmentIds.map(segmentName).join(', ')}
        </Pair>
        <Pair term={words.failover}>
          {failoverIds.length === 0
            ? words.noFailover
            : failoverIds.map((id, index) => (
                <div key={id}>
                  {index + 1}.{' '}
                  <AppLink to="/channels/$id" params={{ id }} size="sm">
                    {lines.data?.items.find((one) => one.id === id)?.name ?? id}
                  </AppLink>
                </div>
              ))}
        </Pair>
      </dl>
    </Panel>
  )
}

const isLocal = (url: string): boolean => /^https?:\/\/(localhost|127\.|\[::1\]|10\.|192\.168\.)/.test(url)

function HookPanel({ line }: { line: OneLine }) {
  const verifyToken = useLocation({ select: (location) => location.state.verifyToken })
  if (line.hookUrl === null)
    return (
      <Panel title={words.hook}>
        <Text size="sm">{words.noHook}</Text>
      </Panel>
    )
  const isSecretInUrl = line.driver === 'sms-http' && line.settings['hookVerification'] === 'url'
  return (
    <Panel title={words.hook}>
      <Stack gap="sm">
        <Text size="sm">{words.hookHint}</Text>
        <dl className={classes['pairs']}>
          <Pair term={words.hookUrl}>
            <CopyText value={isSecretInUrl ? `${line.hookUrl}?secret=SECRET` : line.hookUrl} />
          </Pair>
          {line.driver === 'whatsapp-cloud' && !verifyToken && (
            <Pair term={words.verifyToken}>{words.verifyTokenKept}</Pair>
          )}
        </dl>
        {verifyToken && <SecretOnce value={verifyToken} hint={words.verifyTokenNow} />}
        {isSecretInUrl && <Text size="sm">{words.hookSecretInUrl}</Text>}
        {line.driver === 'whatsapp-cloud' && <Text size="sm">{words.hookMeta}</Text>}
        {isLocal(line.hookUrl) && (
          <Alert color="yellow" icon={<IconInfoCircle aria-hidden />}>
            {words.hookLocal}
          </Alert>
        )}
      </Stack>
    </Panel>
  )
}
