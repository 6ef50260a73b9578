import { Page } from '../components/page.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { text } from '../text/index.ts'

export function Contact() {
  return (
    <Page title={text.contacts.title} needs="GET /contacts/:id">
      <EmptyState title={text.common.notBuiltYet} />
    </Page>
  )
}
