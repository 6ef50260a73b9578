/** The frame of a page: its title for the tab, a heading with actions, and whether one may see it. */
import { Stack } from '@mantine/core'
import { useEffect, type ReactNode } from 'react'
import type { Route } from '../api.ts'
import { useCan } from '../session.ts'
import { text } from '../text/index.ts'
import { NoPermission } from './no-permission.tsx'
import { PageHeader } from './page-header.tsx'

type PageProps = {
  title: string
  lead?: ReactNode
  /** Above the title: where one came from. */
  back?: ReactNode
  /** Buttons at the right of the title. */
  actions?: ReactNode
  /** The route without which the page has nothing to show. */
  needs?: Route
  children: ReactNode
}

export function Page({ title, lead, back, actions, needs, children }: PageProps) {
  const can = useCan()
  useEffect(() => {
    document.title = `${title} · ${text.common.product}`
  }, [title])
  const isAllowed = needs === undefined || can(needs)
  return (
    <Stack gap="md">
      <PageHeader
        title={title}
        back={back}
        lead={isAllowed ? lead : undefined}
        actions={isAllowed && actions}
      />
      {isAllowed ? children : <NoPermission />}
    </Stack>
  )
}
