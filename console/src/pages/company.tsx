import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Company() {
  return (
    <Page title={text.company.title} needs="PATCH /company">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
