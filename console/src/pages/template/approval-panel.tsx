/** Where a WhatsApp template stands with its provider: the state, its reason, and handing it in. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { IconRefresh, IconSend } from '@tabler/icons-react'
import { Can } from '../../components/can.tsx'
import { Panel } from '../../components/panel.tsx'
import { Tag, type Tone } from '../../components/tag.tsx'
import { useApiMutation } from '../../queries.ts'
import { text } from '../../text/index.ts'
import type { TemplateRecord } from './draft.ts'

const words = text.templates
type Approval = TemplateRecord['approval']

const tones: Record<Approval, Tone> = {
  approved: 'good',
  pending: 'info',
  rejected: 'bad',
  paused: 'warn',
  disabled: 'bad',
}

export const ApprovalTag = ({ approval }: { approval: Approval }) => (
  <Tag tone={tones[approval]}>{words.approvals[approval]}</Tag>
)

export function ApprovalPanel({ template, isDirty }: { template: TemplateRecord; isDirty: boolean }) {
  const { id, approval, approvalReason } = template
  const submit = useApiMutation('POST /templates/:id/submit', { success: words.submitted })
  const refresh = useApiMutation('POST /templates/refresh', {
    success: ({ known }) => words.refreshed(known),
  })
  return (
    <Panel title={words.approvalTitle} actions={<ApprovalTag approval={approval} />}>
      <Stack gap="xs">
        <Text size="sm">{words.approvalWords[approval]}</Text>
        {approvalReason && (
          <Text size="sm">
            <strong>{words.reason}:</strong> {words.reasons[approvalReason] ?? approvalReason}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {isDirty ? words.saveFirst : words.submitHint}
        </Text>
        <Group gap="xs">
          <Can do="POST /templates/:id/submit">
            <Button
              size="xs"
              variant={approval === 'approved' ? 'default' : 'filled'}
              leftSection={<IconSend size={14} aria-hidden />}
              disabled={isDirty}
              loading={submit.isPending}
              onClick={() => submit.mutate({ path: { id } })}
            >
              {approval === 'approved' ? words.submitAgain : words.submit}
            </Button>
          </Can>
          <Can do="POST /templates/refresh">
            <Button
              size="xs"
              variant="default"
              leftSection={<IconRefresh size={14} aria-hidden />}
              loading={refresh.isPending}
              onClick={() => refresh.mutate({})}
            >
              {words.refresh}
            </Button>
          </Can>
        </Group>
      </Stack>
    </Panel>
  )
}
