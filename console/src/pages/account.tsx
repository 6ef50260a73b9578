/** Settings > Account: the company's private token, and one's own password, second factor and sessions. */
import { SimpleGrid, Text } from '@mantine/core'
import { Page } from '../components/page.tsx'
import { Panel } from '../components/panel.tsx'
import { SecretActions } from '../components/secret-actions.tsx'
import { useApiMutation } from '../queries.ts'
import { useCan, useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { PasswordPanel } from './account/password-panel.tsx'
import { SessionsPanel } from './account/sessions-panel.tsx'
import { TotpPanel } from './account/totp-panel.tsx'

const words = text.account

export function Account() {
  const { name, role } = useSession()
  const can = useCan()
  return (
    <Page
      title={words.title}
      lead={`${words.lead} ${role ? words.you(name, text.common.roles[role]) : ''}`}
      needs="GET /account/sessions"
    >
      {can('POST /company/private-token/show') && <TokenPanel />}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <PasswordPanel />
        <TotpPanel />
      </SimpleGrid>
      <SessionsPanel />
    </Page>
  )
}

function TokenPanel() {
  const show = useApiMutation('POST /company/private-token/show')
  const rotate = useApiMutation('POST /company/private-token/rotate')
  return (
    <Panel title={words.token.title}>
      <Text size="sm" c="dimmed" mb="sm" maw={760}>
        {words.token.hint}
      </Text>
      <SecretActions
        what={words.token.what}
        rotateHint={words.token.rotateHint}
        show={async () => (await show.mutateAsync({})).data.privateToken}
        rotate={async (overlapHours) => {
          const { data } = await rotate.mutateAsync({ body: { overlapHours } })
          return { value: data.privateToken, previousUntil: data.previousUntil }
        }}
      />
    </Panel>
  )
}
