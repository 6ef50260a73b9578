/** The dials of one channel. */
import { NumberInput, Select, Slider, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Dials, Latency } from '../../../../src/sandbox/chaos.ts'
import { Panel } from '../../components/panel.tsx'
import { Tag } from '../../components/tag.tsx'
import { text } from '../../text/index.ts'
import type { ChaosChannel } from './chaos.tsx'
import classes from './sandbox.module.css'

const words = text.sandbox.chaos

/** Dials that are left out stay as they are. */
type DialChange = Partial<Omit<Dials, 'receipts'>> & { receipts?: Partial<Dials['receipts']> }
type BoardProps = { channel: ChaosChannel; dials: Dials; onChange(change: DialChange): void }

const isCalm = ({
  latency,
  errors,
  lateErrors,
  throttlePerSecond,
  dropBeforeRate,
  dropAfterRate,
  receipts,
}: Dials) =>
  latency.kind === 'none' &&
  errors.length + lateErrors.length + throttlePerSecond + dropBeforeRate + dropAfterRate === 0 &&
  !receipts.isNever &&
  receipts.lostRate + receipts.lateRate + receipts.repeatedRate + receipts.outOfOrderRate === 0

export function ChaosBoard({ channel, dials, onChange }: BoardProps) {
  const name = text.common.channels[channel]
  const calm = isCalm(dials)
  const { receipts } = dials
  const rate = (label: string, value: number, set: (value: number) => void, hint?: string) => (
    <Rate label={label} name={words.of(name, label)} hint={hint} value={value} onChange={set} />
  )
  const onReceipts = (change: Partial<Dials['receipts']>) => onChange({ receipts: change })
  return (
    <Panel
      title={name}
      actions={<Tag tone={calm ? 'good' : 'warn'}>{calm ? words.calm : words.troubled}</Tag>}
    >
      <Stack gap="sm">
        <LatencyDial
          channel={channel}
          latency={dials.latency}
          onChange={(latency) => onChange({ latency })}
        />
        <Text size="sm" fw={600}>
          {words.handOver}
        </Text>
        {rate(
          words.dropBefore,
          dials.dropBeforeRate,
          (dropBeforeRate) => onChange({ dropBeforeRate }),
          words.dropBeforeHint,
        )}
        {rate(
          words.dropAfter,
          dials.dropAfterRate,
          (dropAfterRate) => onChange({ dropAfterRate }),
          words.dropAfterHint,
        )}
        <Errors
          label={words.errors}
          name={words.of(name, words.errors)}
          hint={words.errorHints[channel]}
          value={dials.errors}
          onChange={(errors) => onChange({ errors })}
        />
        <Whole
          label={words.throttle}
          value={dials.throttlePerSecond}
          max={1_000_000}
          onChange={(throttlePerSecond) => onChange({ throttlePerSecond })}
        />
        {channel !== 'email' && (
          <>
            <Text size="sm" fw={600}>
              {words.receipts}
            </Text>
            <Errors
              label={words.lateErrors}
              name={words.of(name, words.lateErrors)}
              hint={words.lateErrorHints[channel]}
              value={dials.lateErrors}
              onChange={(lateErrors) => onChange({ lateErrors })}
            />
            {rate(words.lost, receipts.lostRate, (lostRate) => onReceipts({ lostRate }))}
            {rate(words.late, receipts.lateRate, (lateRate) => onReceipts({ lateRate }))}
            {rate(words.repeated, receipts.repeatedRate, (repeatedRate) => onReceipts({ repeatedRate }))}
            {rate(words.outOfOrder, receipts.outOfOrderRate, (outOfOrderRate) =>
              onReceipts({ outOfOrderRate }),
            )}
            <div className={classes['pair']}>
              <Whole
                label={words.delay}
                value={receipts.delayMs}
                max={60_000}
                onChange={(delayMs) => onReceipts({ delayMs })}
              />
              <Whole
                label={words.lateBy}
                value={receipts.lateByMs}
                max={60_000}
                onChange={(lateByMs) => onReceipts({ lateByMs })}
              />
            </div>
            <Switch
              label={words.never}
              checked={receipts.isNever}
              onChange={(event) => onReceipts({ isNever: event.currentTarget.checked })}
            />
          </>
        )}
      </Stack>
    </Panel>
  )
}

type RateProps = { label: string; name: string; hint?: string; value: number; onChange(value: number): void }

function Rate({ label, name, hint, value, onChange }: RateProps) {
  const [percent, setPercent] = useState(Math.round(value * 100))
  return (
    <div>
      <div className={classes['rateHead']}>
        <Text size="sm">{label}</Text>
        <Text size="sm" c={percent > 0 ? 'var(--pombo-warn-text)' : 'dimmed'}>{`${percent} %`}</Text>
      </div>
      <Slider
        thumbLabel={name}
        label={null}
        value={percent}
        onChange={setPercent}
        onChangeEnd={(end) => onChange(end / 100)}
      />
      {hint && (
        <Text size="xs" c="dimmed" mt={4}>
          {hint}
        </Text>
      )}
    </div>
  )
}

type WholeProps = { label: string; value: number; max: number; onChange(value: number): void }

const Whole = ({ label, value, max, onChange }: WholeProps) => (
  <NumberInput
    label={label}
    min={0}
    max={max}
    allowDecimal={false}
    defaultValue={value}
    onBlur={(event) => {
      const next = Number(event.currentTarget.value)
      if (Number.isSafeInteger(next) && next !== value) onChange(next)
    }}
  />
)

type ErrorsProps = {
  label: string
  name: string
  hint: string
  value: Dials['errors']
  onChange(value: Dials['errors']): void
}

/** "130429:20, 131016:5" is 20 % and 5 %. */
function Errors({ label, name, hint, value, onChange }: ErrorsProps) {
  const shown = value.map(({ code, rate }) => `${code}:${Math.round(rate * 100)}`).join(', ')
  const [written, setWritten] = useState(shown)
  const read = readErrors(written)
  return (
    <TextInput
      label={label}
      aria-label={name}
      placeholder={hint}
      value={written}
      error={read === undefined && words.errorsWrong}
      onChange={(event) => setWritten(event.currentTarget.value)}
      onBlur={() => read && written !== shown && onChange(read)}
    />
  )
}

function readErrors(written: string): Dials['errors'] | undefined {
  const parts = written.split(/[,;\s]+/).filter(Boolean)
  const read = parts.map((part) => /^(\d{1,9})(?::(\d{1,3}))?$/.exec(part))
  if (read.some((match) => match === null)) return undefined
  const errors = read.map((match) => ({ code: Number(match![1]), rate: Number(match![2] ?? 100) / 100 }))
  return errors.every(({ rate }) => rate <= 1) ? errors : undefined
}

const starts: Record<Latency['kind'], Latency> = {
  none: { kind: 'none' },
  fixed: { kind: 'fixed', ms: 500 },
  uniform: { kind: 'uniform', minMs: 50, maxMs: 1_500 },
  normal: { kind: 'normal', meanMs: 300, deviationMs: 100 },
  lognormal: { kind: 'lognormal', medianMs: 150, sigma: 1 },
}

type LatencyProps = { channel: ChaosChannel; latency: Latency; onChange(latency: Latency): void }

function LatencyDial({ channel, latency, onChange }: LatencyProps) {
  const { kind, ...numbers } = latency
  return (
    <>
      <Select
        label={words.latency}
        aria-label={words.of(text.common.channels[channel], words.latency)}
        value={kind}
        data={Object.entries(words.latencies).map(([value, label]) => ({ value, label }))}
        onChange={(next) => onChange(starts[next as Latency['kind']])}
      />
      {Object.keys(numbers).length > 0 && (
        <div className={classes['pair']}>
          {Object.entries(numbers as Record<string, number>).map(([name, value]) => (
            <NumberInput
              key={name}
              label={words.latencyFields[name as keyof typeof words.latencyFields]}
              min={0}
              max={60_000}
              defaultValue={value}
              onBlur={(event) => {
                const next = Number(event.currentTarget.value)
                if (Number.isFinite(next) && next !== value) onChange({ ...latency, [name]: next })
              }}
            />
          ))}
        </div>
      )}
    </>
  )
}
