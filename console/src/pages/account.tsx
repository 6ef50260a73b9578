import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Account() {
  return (
    <Page title={text.account.title} needs="GET /account/sessions">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
