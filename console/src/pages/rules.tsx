import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Rules() {
  return (
    <Page title={text.rules.title} needs="GET /rules">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
