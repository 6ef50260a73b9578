import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { text } from '../text/index.ts'
import classes from './copy-text.module.css'

/** A value in monospace that one click copies. `short` shortens what is shown, never what is copied. */
export function CopyText({ value, short }: { value: string; short?: number }) {
  const shown = short !== undefined && value.length > short ? `${value.slice(0, short)}…` : value
  return (
    <span className={classes['copy']}>
      <code title={shown === value ? undefined : value}>{shown}</code>
      <CopyButton value={value} timeout={1500}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? text.common.copied : text.common.copy}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={`${text.common.copy} ${shown}`}
              onClick={copy}
            >
              {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  )
}
