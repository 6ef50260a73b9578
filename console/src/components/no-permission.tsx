import { IconLock } from '@tabler/icons-react'
import { useSession } from '../session.ts'
import { text } from '../text/index.ts'
import { EmptyState } from './empty-state.tsx'

export function NoPermission() {
  const { role } = useSession()
  return (
    <EmptyState
      icon={IconLock}
      title={text.common.noPermission}
      hint={role && text.common.noPermissionHint(text.common.roles[role])}
    />
  )
}
