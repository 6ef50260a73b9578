/** A secret of the company: shown when somebody asks, which the audit log notes, and replaced with an overlap. */
import { Button, Group, NumberInput, Stack, Text } from '@mantine/core'
import { IconEye, IconRefresh } from '@tabler/icons-react'
import { useState, type FormEvent } from 'react'
import { formatExact } from '../format.ts'
import { text } from '../text/index.ts'
import { FormModal } from './form-modal.tsx'
import { SecretOnce } from './secret-once.tsx'

const words = text.common.secrets

type SecretActionsProps = {
  /** As in a sentence: "the private token". */
  what: string
  show?: () => Promise<string>
  rotate?: (overlapHours: number) => Promise<{ value: string; previousUntil?: string }>
  /** What has to be done when it is replaced. */
  rotateHint: string
}

export function SecretActions({ what, show, rotate, rotateHint }: SecretActionsProps) {
  const [shown, setShown] = useState<{ value: string; title: string; hint: string }>()
  const [isAsking, setIsAsking] = useState(false)
  const [isWorking, setIsWorking] = useState(false)
  const work = async (doing: () => Promise<void>) => {
    setIsWorking(true)
    try {
      await doing()
    } catch {
      // What went wrong was told where it happened.
    } finally {
      setIsWorking(false)
    }
  }
  return (
    <Stack gap="sm">
      {shown && <SecretOnce {...shown} />}
      <Group gap="xs">
        {show && (
          <Button
            variant="default"
            leftSection={<IconEye size={16} aria-hidden />}
            loading={isWorking && !isAsking}
            onClick={() =>
              void work(async () =>
                setShown({ value: await show(), title: words.shown, hint: words.shownHint }),
              )
            }
          >
            {words.show(what)}
          </Button>
        )}
        {rotate && (
          <Button
            variant="default"
            leftSection={<IconRefresh size={16} aria-hidden />}
            onClick={() => setIsAsking(true)}
          >
            {words.rotate(what)}
          </Button>
        )}
        {shown && (
          <Button variant="subtle" onClick={() => setShown(undefined)}>
            {words.hide}
          </Button>
        )}
      </Group>
      {rotate && (
        <FormModal title={words.rotateTitle(what)} isOpen={isAsking} onClose={() => setIsAsking(false)}>
          <RotateForm
            hint={rotateHint}
            isWorking={isWorking}
            onCancel={() => setIsAsking(false)}
            onRotate={(hours) =>
              void work(async () => {
                const { value, previousUntil } = await rotate(hours)
                setShown({
                  value,
                  title: words.replaced,
                  hint:
                    hours === 0
                      ? words.deadAtOnce
                      : words.overlap(previousUntil ? formatExact(new Date(previousUntil)) : hours),
                })
                setIsAsking(false)
              })
            }
          />
        </FormModal>
      )}
    </Stack>
  )
}

type RotateFormProps = {
  hint: string
  isWorking: boolean
  onCancel(): void
  onRotate(overlapHours: number): void
}

function RotateForm({ hint, isWorking, onCancel, onRotate }: RotateFormProps) {
  const [hours, setHours] = useState<number | string>(24)
  const isGood = typeof hours === 'number' && hours >= 0 && hours <= 720
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isGood) onRotate(hours)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Text size="sm">{hint}</Text>
        <NumberInput
          label={words.overlapHours}
          description={words.overlapHint}
          min={0}
          max={720}
          allowDecimal={false}
          value={hours}
          onChange={setHours}
          error={isGood ? undefined : words.overlapWrong}
          data-autofocus
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {text.common.cancel}
          </Button>
          <Button type="submit" loading={isWorking}>
            {words.yesRotate}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
