import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function ChannelLine() {
  return (
    <Page title={text.channels.title} needs="GET /lines/:id">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
