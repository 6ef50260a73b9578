/** How many SMS the text takes, and which characters make it more. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { textLimits } from '../../../../src/domain/compiled-template.ts'
import { isGsm7, measureSms, outsideGsm7, transliterate } from '../../../../src/domain/sms-text.ts'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import { useEditing } from './editing.ts'
import { fillDraft } from './fill.ts'
import classes from './template.module.css'

const words = text.templates

export function SmsMeter() {
  const { template, samples } = useEditing()
  const filled = fillDraft(template, samples).body
  const { encoding, segments, units, unitsLeft } = measureSms(filled)
  const isTooLong = segments > textLimits.smsSegments
  return (
    <Stack gap="xs" aria-live="polite">
      <Group gap="xs">
        <Tag tone={isTooLong ? 'bad' : encoding === 'ucs2' ? 'warn' : 'good'}>{words.segments(segments)}</Tag>
        <Text size="sm">{words.segmentsDetail(units, unitsLeft)}</Text>
      </Group>
      <Text size="xs" c="dimmed">
        {words.encodings[encoding]}. {words.segmentsHint}
      </Text>
      {isTooLong && (
        <Text size="sm" c="var(--mantine-color-error)">
          {words.tooLong(textLimits.smsSegments)}
        </Text>
      )}
      {encoding === 'ucs2' && <Ucs2Warning filled={filled} segments={segments} />}
    </Stack>
  )
}

function Ucs2Warning({ filled, segments }: { filled: string; segments: number }) {
  const { draft, set, isReadOnly } = useEditing()
  const odd = outsideGsm7(filled)
  const plainBody = transliterate(draft.body)
  const isOfBody = !isGsm7(draft.body)
  const canReplace = isOfBody && plainBody !== draft.body && !isReadOnly
  const without = odd.reduce((left, character) => left.replaceAll(character, 'x'), filled)
  return (
    <Alert color="orange" icon={<IconAlertTriangle aria-hidden />} title={words.ucs2Title} c="inherit">
      <Stack gap="xs">
        <ul className={classes['chips']} aria-label={words.ucs2Title}>
          {odd.slice(0, 30).map((character) => (
            <li key={character} className={classes['odd']}>
              {character.trim() === '' || /^\p{C}$/u.test(character) ? codePoint(character) : character}
            </li>
          ))}
        </ul>
        <Text size="sm">{words.ucs2Hint(segments, measureSms(without).segments)}</Text>
        {!isOfBody && <Text size="sm">{words.ucs2FromSample}</Text>}
        {canReplace && (
          <Group>
            <Button variant="default" size="xs" onClick={() => set({ body: plainBody })}>
              {words.writePlain}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
