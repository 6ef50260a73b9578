import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Media() {
  return (
    <Page title={text.media.title} needs="GET /media">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
