import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Dashboard() {
  return (
    <Page title={text.dashboard.title} needs="GET /events">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
