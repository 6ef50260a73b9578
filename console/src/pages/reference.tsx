import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Reference() {
  return (
    <Page title={text.reference.title} needs="GET /session">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
