/** One value on all lists: where it is, and what that does. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState, type FormEvent } from 'react'
import type { ItemOf } from '../../api.ts'
import { AppLink } from '../../components/app-link.tsx'
import { DataTable, type Column } from '../../components/data-table.tsx'
import { Instant } from '../../components/instant.tsx'
import { Panel } from '../../components/panel.tsx'
import { explain } from '../../explain.ts'
import { useApiMutation } from '../../queries.ts'
import { text } from '../../text/index.ts'
import { RuleTags } from './rule-tags.tsx'

const words = text.restrictionLists
type Hit = ItemOf<'POST /restriction-lists/look-up'>

const columns: readonly Column<Hit>[] = [
  {
    header: words.list,
    cell: ({ list }) => (
      <AppLink to="/restriction-lists/$id" params={{ id: list.id }} size="sm" fw={600}>
        {list.name}
      </AppLink>
    ),
    isTitle: true,
  },
  {
    header: words.why,
    cell: ({ field, value, isPrefix }) =>
      words.because[isPrefix ? 'prefix' : 'exact'](words.fields[field], value),
  },
  { header: words.until, cell: ({ expiresAt }) => (expiresAt ? <Instant at={expiresAt} /> : words.forGood) },
  { header: words.rules, cell: ({ rules }) => <RuleTags rules={rules} /> },
]

export function LookUp() {
  const [value, setValue] = useState('')
  const [asked, setAsked] = useState('')
  const lookUp = useApiMutation('POST /restriction-lists/look-up', { isQuietOnError: true, alsoStale: [] })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (value.trim() === '') return
    setAsked(value.trim())
    lookUp.mutate({ body: { value: value.trim() } })
  }
  const items = lookUp.data?.data.items
  return (
    <Panel title={words.lookUpTitle}>
      <Stack gap="sm">
        <form onSubmit={submit} role="search" aria-label={words.lookUpTitle}>
          <Group align="flex-end" gap="xs">
            <TextInput
              label={words.value}
              description={words.lookUpHint}
              value={value}
              onChange={(event) => setValue(event.currentTarget.value)}
              error={lookUp.error && explain(lookUp.error)}
              flex="1 1 280px"
              maw={480}
            />
            <Button
              type="submit"
              variant="default"
              leftSection={<IconSearch size={16} aria-hidden />}
              loading={lookUp.isPending}
            >
              {words.lookUp}
            </Button>
          </Group>
        </form>
        {items && (
          <div aria-live="polite">
            <Text size="sm" fw={600} mb={6} role="status" style={{ overflowWrap: 'anywhere' }}>
              {words.lookedUp(asked, items.length)}
            </Text>
            {items.length > 0 && (
              <DataTable
                label={words.lookUpTitle}
                columns={columns}
                query={{ data: { items }, error: null, isPlaceholderData: false, refetch: () => undefined }}
                rowKey={({ list, field, value: of, isPrefix }) => `${list.id} ${field} ${of} ${isPrefix}`}
              />
            )}
          </div>
        )}
      </Stack>
    </Panel>
  )
}
