import { Button, Group } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { text } from '../text/index.ts'

type PagerProps = {
  list: { hasPrevious: boolean; previous(): void; next(cursor: string): void }
  nextCursor: string | null
}

/** Back and forth; nothing at all where everything fits on one page. */
export function Pager({ list, nextCursor }: PagerProps) {
  if (!list.hasPrevious && nextCursor === null) return null
  return (
    <Group component="nav" justify="flex-end" gap="xs" mt="sm" aria-label={text.common.page}>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconChevronLeft size={16} aria-hidden />}
        disabled={!list.hasPrevious}
        onClick={list.previous}
      >
        {text.common.previous}
      </Button>
      <Button
        variant="default"
        size="xs"
        rightSection={<IconChevronRight size={16} aria-hidden />}
        disabled={nextCursor === null}
        onClick={() => nextCursor !== null && list.next(nextCursor)}
      >
        {text.common.next}
      </Button>
    </Group>
  )
}
