/** Both APIs from their OpenAPI documents, with a place to try each operation. */
import { Anchor, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ErrorState } from '../components/error-state.tsx'
import { Page } from '../components/page.tsx'
import { PageLoading } from '../components/page-loading.tsx'
import { useApiQuery } from '../queries.ts'
import { useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { documentQuery, operationsOf, type ApiName } from './reference/openapi.ts'
import { OperationPanel } from './reference/operation.tsx'
import type { Facts } from './reference/samples.ts'

const words = text.reference
const tabs = Object.entries(words.tabs) as [ApiName, string][]

export function Reference() {
  const { api } = useSearch({ strict: false }) as { api?: string }
  const navigate = useNavigate()
  const chosen = api === 'direct' ? 'direct' : 'unified'
  // Remembered while the page is open, and nowhere else.
  const [tokens, setTokens] = useState<Record<ApiName, string>>({ unified: '', direct: '' })
  return (
    <Page
      title={words.title}
      lead={words.lead}
      needs="GET /apis"
      actions={
        <Anchor href="/docs" size="sm">
          {words.plain}
        </Anchor>
      }
    >
      <Tabs
        value={chosen}
        onChange={(name) =>
          void navigate({ to: '/reference', search: name === 'direct' ? { api: 'direct' } : {} })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md" aria-label={words.tabsLabel}>
          {tabs.map(([name, label]) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(([name]) => (
          <Tabs.Panel key={name} value={name}>
            <ApiDocument
              name={name}
              token={tokens[name]}
              onToken={(token) => setTokens((before) => ({ ...before, [name]: token }))}
            />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

type DocumentProps = { name: ApiName; token: string; onToken(token: string): void }

function ApiDocument({ name, token, onToken }: DocumentProps) {
  const { data: document, error, refetch } = useQuery(documentQuery(name))
  const { data: apis } = useApiQuery('/apis')
  const facts = useFacts()
  if (error) return <ErrorState error={error} onRetry={refetch} />
  if (document === undefined || apis === undefined || facts === undefined) return <PageLoading />
  const { url, isHere } = apis[name]
  return (
    <Stack gap="md">
      <Group gap="md">
        <Text size="sm" c="dimmed" maw={720}>
          {document.info.description}
        </Text>
        <Text size="sm">
          {words.address}: <code>{url}</code>
        </Text>
        <Anchor size="sm" href={`/docs/${name}.json`}>
          {words.document}
        </Anchor>
      </Group>
      {operationsOf(document).map((shown) => (
        <OperationPanel
          key={shown.id}
          api={name}
          shown={shown}
          url={url}
          isHere={isHere}
          facts={facts}
          token={token}
          onToken={onToken}
        />
      ))}
    </Stack>
  )
}

/** What bodies are prefilled from; undefined until it is known. A role may not see all of it. */
function useFacts(): Facts | undefined {
  const company = useSession().company.name ?? ''
  const users = useApiQuery('/users', { query: { role: 'api', limit: 1 } })
  const templates = useApiQuery('/templates', { query: { isEnabled: true, limit: 200 } })
  const segments = useApiQuery('/segments', { query: { limit: 1 } })
  const sandbox = useApiQuery('/sandbox')
  const isReady = [users, templates, segments, sandbox].every(({ data, error }) => data ?? error)
  if (!isReady) return undefined
  return {
    company,
    apiUser: users.data?.items[0]?.name,
    templates: templates.data?.items ?? [],
    segment: segments.data?.items[0]?.name,
    catcherUrl: sandbox.data?.catcherUrl ?? undefined,
  }
}
