import { Alert, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { text } from '../text/index.ts'
import { CopyText } from './copy-text.tsx'

/** A secret that the server shows once, or that was just asked for. */
export function SecretOnce({ value, hint = text.common.secretOnceHint }: { value: string; hint?: string }) {
  return (
    <Alert color="yellow" icon={<IconKey aria-hidden />} title={text.common.secretOnce} role="status">
      <CopyText value={value} />
      <Text size="sm" mt={4}>
        {hint}
      </Text>
    </Alert>
  )
}
