/** Settings > Company > Integration: the company itself, and everything that programs need. */
import { Stack, Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { text } from '../text/index.ts'
import { CompanyPanel } from './company/company-panel.tsx'
import { KeysPanel } from './company/keys-panel.tsx'
import { TokensPanel } from './company/tokens-panel.tsx'
import { CallbackSecretPanel, WebhookPanel } from './company/webhook-panel.tsx'

const words = text.company
const tabs = Object.entries(words.tabs) as [keyof typeof words.tabs, string][]

export function Company() {
  const { tab } = useSearch({ strict: false }) as { tab?: string }
  const navigate = useNavigate()
  const chosen = tabs.find(([name]) => name === tab)?.[0] ?? 'company'
  return (
    <Page title={words.title} lead={words.lead} needs="PATCH /company">
      <Tabs
        value={chosen}
        onChange={(name) =>
          void navigate({
            to: '/settings/company',
            search: name === null || name === 'company' ? {} : { tab: name },
          })
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
        <Tabs.Panel value="company">
          <CompanyPanel />
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <TokensPanel />
        </Tabs.Panel>
        <Tabs.Panel value="webhook">
          <Stack gap="md">
            <WebhookPanel />
            <CallbackSecretPanel />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="keys">
          <KeysPanel />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
