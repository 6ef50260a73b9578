import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Sandbox() {
  return (
    <Page title={text.sandbox.title} needs="GET /company">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
