import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Users() {
  return (
    <Page title={text.users.title} needs="GET /users">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
