/** JSON and raw exchanges in monospace: always as text, never as markup. */
import { Text } from '@mantine/core'
import classes from './json-view.module.css'

type BlockProps = { value: string; label?: string; maxHeight?: number }

/** A block that scrolls within itself; reachable by keyboard. */
export function CodeBlock({ value, label, maxHeight = 360 }: BlockProps) {
  return (
    <pre
      className={classes['block']}
      style={{ maxHeight }}
      tabIndex={0}
      aria-label={label}
      role={label && 'region'}
    >
      {value}
    </pre>
  )
}

export const JsonView = ({ value, ...rest }: Omit<BlockProps, 'value'> & { value: unknown }) => (
  <CodeBlock value={JSON.stringify(value, undefined, 2) ?? ''} {...rest} />
)

/** What was said to a peer and what it answered. Objects are shown as JSON. */
export function ExchangeView({ parts }: { parts: readonly { label: string; value: unknown }[] }) {
  return (
    <div className={classes['exchange']}>
      {parts
        .filter(({ value }) => value !== undefined && value !== null && value !== '')
        .map(({ label, value }) => (
          <div key={label}>
            <Text size="xs" fw={600} c="dimmed" mb={2}>
              {label}
            </Text>
            {typeof value === 'string' ? (
              <CodeBlock value={value} label={label} />
            ) : (
              <JsonView value={value} label={label} />
            )}
          </div>
        ))}
    </div>
  )
}
