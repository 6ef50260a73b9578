import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Message() {
  return (
    <Page title={text.messages.title} needs="GET /messages/:id">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
