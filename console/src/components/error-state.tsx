import { Alert, Button, Group, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { ApiError } from '../api.ts'
import { explain } from '../explain.ts'
import { text } from '../text/index.ts'
import { NoPermission } from './no-permission.tsx'
import { NotFound } from './not-found.tsx'

/** Instead of what could not be loaded; a refusal by role and a missing record are said as such. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry?: () => unknown }) {
  if (error instanceof ApiError && error.status === 403) return <NoPermission />
  if (error instanceof ApiError && error.status === 404) return <NotFound />
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={text.common.failedToLoad} role="alert">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{explain(error)}</Text>
        {onRetry && (
          <Button variant="default" size="xs" onClick={() => void onRetry()}>
            {text.common.retry}
          </Button>
        )}
      </Group>
    </Alert>
  )
}
