import { Skeleton, Stack } from '@mantine/core'
import { text } from '../text/index.ts'

export const PageLoading = () => (
  <Stack gap="md" role="status" aria-label={text.common.loading}>
    <Skeleton height={28} width={220} />
    <Skeleton height={16} width="min(420px, 80%)" />
    <Skeleton height={240} />
  </Stack>
)
