import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function User() {
  return (
    <Page title={text.users.title} needs="GET /users/:id">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
