import { Group, Text } from '@mantine/core'
import type { ItemOf } from '../../api.ts'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'

const words = text.restrictionLists

/** The rules that look at a list; without any it restricts nobody. */
export const RuleTags = ({ rules }: { rules: ItemOf<'GET /restriction-lists'>['rules'] }) =>
  rules.length === 0 ? (
    <Text size="sm" c="dimmed">
      {words.noRules}
    </Text>
  ) : (
    <Group gap={4}>
      {rules.map(({ id, name, isEnabled }) => (
        <Tag key={id} tone={isEnabled ? 'info' : 'neutral'}>
          {isEnabled ? name : words.ruleOff(name)}
        </Tag>
      ))}
    </Group>
  )
