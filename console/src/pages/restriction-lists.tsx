import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function RestrictionLists() {
  return (
    <Page title={text.restrictionLists.title} needs="GET /restriction-lists">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
