import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Reports() {
  return (
    <Page title={text.reports.title} needs="GET /reports">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
