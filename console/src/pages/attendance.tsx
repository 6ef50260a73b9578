import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Attendance() {
  return (
    <Page title={text.attendance.title} needs="GET /attendances">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
