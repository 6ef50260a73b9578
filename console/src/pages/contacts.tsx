import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Contacts() {
  return (
    <Page title={text.contacts.title} needs="GET /contacts">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
