import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Template() {
  return (
    <Page title={text.templates.title} needs="GET /templates/:id">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
