import { Alert, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { text } from '../text/index.ts'
import { CopyText } from './copy-text.tsx'

/** A secret that the server shows once, or that was just asked for. */
type SecretOnceProps = {
  value: string
  /** For one that can be asked for again. */
  title?: string
  hint?: string
}

export function SecretOnce({
  value,
  title = text.common.secretOnce,
  hint = text.common.secretOnceHint,
}: SecretOnceProps) {
  return (
    <Alert color="yellow" icon={<IconKey aria-hidden />} title={title} role="status">
      <CopyText value={value} />
      <Text size="sm" mt={4}>
        {hint}
      </Text>
    </Alert>
  )
}
