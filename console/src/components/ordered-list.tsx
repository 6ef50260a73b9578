/** Things in an order that matters: moved by buttons, so that it works with keyboard, mouse and finger alike. */
import { Group, Text } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react'
import { IconAction } from './icon-action.tsx'
import classes from './ordered-list.module.css'

type OrderedListProps = {
  label: string
  items: readonly { id: string; name: string }[]
  onChange(ids: string[]): void
  words: { up(name: string): string; down(name: string): string; remove(name: string): string }
}

/** The same ids with the one at `from` moved to `to`. */
export function moved(ids: readonly string[], from: number, to: number): string[] {
  const rest = ids.filter((_, index) => index !== from)
  return [...rest.slice(0, to), ids[from]!, ...rest.slice(to)]
}

export function OrderedList({ label, items, onChange, words }: OrderedListProps) {
  const ids = items.map(({ id }) => id)
  return (
    <ol className={classes['list']} aria-label={label}>
      {items.map(({ id, name }, index) => (
        <li key={id}>
          <Text size="sm" span className={classes['name']}>
            {index + 1}. {name}
          </Text>
          <Group gap={2} wrap="nowrap">
            <IconAction
              label={words.up(name)}
              isDisabled={index === 0}
              onClick={() => onChange(moved(ids, index, index - 1))}
              icon={<IconArrowUp size={16} aria-hidden />}
            />
            <IconAction
              label={words.down(name)}
              isDisabled={index === items.length - 1}
              onClick={() => onChange(moved(ids, index, index + 1))}
              icon={<IconArrowDown size={16} aria-hidden />}
            />
            <IconAction
              label={words.remove(name)}
              onClick={() => onChange(ids.filter((one) => one !== id))}
              icon={<IconX size={16} aria-hidden />}
            />
          </Group>
        </li>
      ))}
    </ol>
  )
}
