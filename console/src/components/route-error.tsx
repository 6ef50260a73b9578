/** What broke stays within its page: the navigation goes on working. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError } from '../api.ts'
import { explain } from '../explain.ts'
import { text } from '../text/index.ts'

export function RouteError({ error }: ErrorComponentProps) {
  const router = useRouter()
  const { reset } = useQueryErrorResetBoundary()
  useEffect(() => reset(), [reset])
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle aria-hidden />}
      title={error instanceof ApiError ? text.common.failedToLoad : text.common.pageBroke}
      role="alert"
      m="md"
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{explain(error instanceof Error ? error : new Error(String(error)))}</Text>
        <Button variant="default" size="xs" onClick={() => void router.invalidate()}>
          {text.common.retry}
        </Button>
      </Stack>
    </Alert>
  )
}
