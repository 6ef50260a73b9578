/** Taking everything along, and forgetting everything. */
import { Button, Stack, Text } from '@mantine/core'
import { IconDownload, IconEraser } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { AnswerOf } from '../../api.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { useApiMutation } from '../../queries.ts'
import { useCan } from '../../session.ts'
import { text } from '../../text/index.ts'
import classes from './contact.module.css'

const words = text.contacts
type Contact = AnswerOf<'GET /contacts/:id'>

export function MorePanel({ contact }: { contact: Contact }) {
  const { id } = contact
  const can = useCan()
  const navigate = useNavigate()
  const take = useApiMutation('POST /contacts/:id/export', {
    success: words.exported,
    onSuccess: (everything) => save(`${id}.json`, JSON.stringify(everything, undefined, 2)),
  })
  const erase = useApiMutation('DELETE /contacts/:id', {
    success: ({ messages }) => words.erased(messages),
    alsoStale: ['messages', 'attendances'],
  })
  const name = contact.name ?? contact.phone ?? contact.email ?? ''
  if (!can('POST /contacts/:id/export') && !can('DELETE /contacts/:id')) return null
  return (
    <Panel title={words.more}>
      <Stack gap="xs" align="flex-start">
        {can('POST /contacts/:id/export') && (
          <>
            <Button
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
              loading={take.isPending}
              onClick={() => take.mutate({ path: { id } })}
            >
              {words.exportOne}
            </Button>
            <Text size="xs" c="dimmed">
              {words.exportHint}
            </Text>
          </>
        )}
        {can('DELETE /contacts/:id') && (
          <ConfirmButton
            label={words.erase}
            leftSection={<IconEraser size={16} aria-hidden />}
            title={words.eraseTitle(name)}
            confirmLabel={words.eraseYes}
            isWorking={erase.isPending}
            onConfirm={async () => {
              await navigateAfter(erase.mutateAsync({ path: { id } }))
            }}
          >
            <Text size="sm">{words.eraseWhat}</Text>
            <ul className={classes['erased']}>
              {words.eraseItems.map((item) => (
                <li key={item}>{item}</li>
              ))}
            </ul>
            <Text size="sm">{words.eraseKeeps}</Text>
          </ConfirmButton>
        )}
      </Stack>
    </Panel>
  )

  async function navigateAfter(work: Promise<unknown>): Promise<void> {
    await work
    await navigate({ to: '/contacts' })
  }
}

/** A file of the browser's own making. */
function save(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/json' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
