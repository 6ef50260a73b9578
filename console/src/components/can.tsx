import type { ReactNode } from 'react'
import type { Route } from '../api.ts'
import { useCan } from '../session.ts'

/** Offers only what the role allows: `<Can do="POST /segments">…</Can>`. */
export function Can({ do: route, children }: { do: Route; children: ReactNode }) {
  const can = useCan()
  return can(route) ? children : null
}
