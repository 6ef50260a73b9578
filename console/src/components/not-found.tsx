import { IconCompass } from '@tabler/icons-react'
import { text } from '../text/index.ts'
import { LinkButton } from './app-link.tsx'
import { EmptyState } from './empty-state.tsx'

export const NotFound = () => (
  <EmptyState
    icon={IconCompass}
    title={text.common.notFound}
    hint={text.common.notFoundHint}
    action={
      <LinkButton to="/" variant="default">
        {text.common.toDashboard}
      </LinkButton>
    }
  />
)
