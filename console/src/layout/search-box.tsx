import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { useCan } from '../session.ts'
import { text } from '../text/index.ts'

/** A message's id leads to the message, anything else to the messages of that recipient. */
export function SearchBox() {
  const navigate = useNavigate()
  const can = useCan()
  const [words, setWords] = useState('')
  if (!can('GET /messages')) return null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const wanted = words.trim()
    if (wanted === '') return
    setWords('')
    if (/^msg_[0-9a-f]{32}$/.test(wanted)) void navigate({ to: '/messages/$id', params: { id: wanted } })
    else void navigate({ to: '/messages', search: { recipient: recipientOf(wanted) } as never })
  }
  return (
    <form
      onSubmit={submit}
      role="search"
      aria-label={text.navigation.search}
      style={{ flex: '0 1 320px', minWidth: 0 }}
    >
      <TextInput
        type="search"
        size="sm"
        aria-label={text.navigation.searchHint}
        placeholder={text.navigation.searchHint}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={words}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
    </form>
  )
}

/** Numbers are kept as digits alone. */
const recipientOf = (words: string): string =>
  words.includes('@') ? words.toLowerCase() : words.replaceAll(/[^\d]/g, '') || words
