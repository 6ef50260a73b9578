import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Callbacks() {
  return (
    <Page title={text.callbacks.title} needs="GET /callbacks">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
