import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Channels() {
  return (
    <Page title={text.channels.title} needs="GET /lines">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
