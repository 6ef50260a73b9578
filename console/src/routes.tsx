/** Every address of the console. Each page is a file of its own that is loaded when it is visited. */
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { QueryClient } from '@tanstack/react-query'
import { ApiError } from './api.ts'
import { NotFound } from './components/not-found.tsx'
import { PageLoading } from './components/page-loading.tsx'
import { RouteError } from './components/route-error.tsx'
import { Shell } from './layout/shell.tsx'
import { sessionQuery } from './session.ts'

const root = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>): { to?: string } =>
    typeof search['to'] === 'string' ? { to: search['to'] } : {},
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
})

/** All that needs somebody who is signed in. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  async beforeLoad({ context, location }) {
    try {
      await context.client.ensureQueryData(sessionQuery)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } })
      throw error
    }
  },
})

const at = <P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => shell, path, component })

const tree = root.addChildren([
  signIn,
  shell.addChildren([
    at(
      '/',
      lazyRouteComponent(() => import('./pages/dashboard.tsx'), 'Dashboard'),
    ),
    at(
      '/messages',
      lazyRouteComponent(() => import('./pages/messages.tsx'), 'Messages'),
    ),
    at(
      '/messages/$id',
      lazyRouteComponent(() => import('./pages/message.tsx'), 'Message'),
    ),
    at(
      '/reports',
      lazyRouteComponent(() => import('./pages/reports.tsx'), 'Reports'),
    ),
    at(
      '/contacts',
      lazyRouteComponent(() => import('./pages/contacts.tsx'), 'Contacts'),
    ),
    at(
      '/contacts/import',
      lazyRouteComponent(() => import('./pages/contacts/import.tsx'), 'ContactImport'),
    ),
    at(
      '/contacts/$id',
      lazyRouteComponent(() => import('./pages/contact.tsx'), 'Contact'),
    ),
    at(
      '/attendance',
      lazyRouteComponent(() => import('./pages/attendance.tsx'), 'Attendance'),
    ),
    at(
      '/templates',
      lazyRouteComponent(() => import('./pages/templates.tsx'), 'Templates'),
    ),
    at(
      '/templates/$id',
      lazyRouteComponent(() => import('./pages/template.tsx'), 'Template'),
    ),
    at(
      '/media',
      lazyRouteComponent(() => import('./pages/media.tsx'), 'Media'),
    ),
    at(
      '/channels',
      lazyRouteComponent(() => import('./pages/channels/index.tsx'), 'Channels'),
    ),
    at(
      '/channels/new',
      lazyRouteComponent(() => import('./pages/channels/new-line.tsx'), 'NewLine'),
    ),
    at(
      '/channels/$id',
      lazyRouteComponent(() => import('./pages/channels/line.tsx'), 'ChannelLine'),
    ),
    at(
      '/rules',
      lazyRouteComponent(() => import('./pages/rules/index.tsx'), 'Rules'),
    ),
    at(
      '/restriction-lists',
      lazyRouteComponent(() => import('./pages/restriction-lists/index.tsx'), 'RestrictionLists'),
    ),
    at(
      '/restriction-lists/$id',
      lazyRouteComponent(() => import('./pages/restriction-lists/list.tsx'), 'RestrictionList'),
    ),
    at(
      '/callbacks',
      lazyRouteComponent(() => import('./pages/callbacks.tsx'), 'Callbacks'),
    ),
    at(
      '/callbacks/$id',
      lazyRouteComponent(() => import('./pages/callback.tsx'), 'Callback'),
    ),
    at(
      '/segments',
      lazyRouteComponent(() => import('./pages/segments.tsx'), 'Segments'),
    ),
    at(
      '/users',
      lazyRouteComponent(() => import('./pages/users.tsx'), 'Users'),
    ),
    at(
      '/users/$id',
      lazyRouteComponent(() => import('./pages/user.tsx'), 'User'),
    ),
    at(
      '/settings/account',
      lazyRouteComponent(() => import('./pages/account.tsx'), 'Account'),
    ),
    at(
      '/settings/company',
      lazyRouteComponent(() => import('./pages/company.tsx'), 'Company'),
    ),
    at(
      '/audit',
      lazyRouteComponent(() => import('./pages/audit.tsx'), 'Audit'),
    ),
    at(
      '/sandbox',
      lazyRouteComponent(() => import('./pages/sandbox.tsx'), 'Sandbox'),
    ),
    at(
      '/reference',
      lazyRouteComponent(() => import('./pages/reference.tsx'), 'Reference'),
    ),
  ]),
])

/** Search params are plain texts: no number and no JSON is read into them. */
const parseSearch = (search: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(search))
function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return query === '' ? '' : `?${query}`
}

export const createConsoleRouter = (client: QueryClient) =>
  createRouter({
    routeTree: tree,
    context: { client },
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultErrorComponent: RouteError,
    defaultNotFoundComponent: NotFound,
    defaultPendingComponent: PageLoading,
    defaultPendingMs: 300,
  })

export type ConsoleRouter = ReturnType<typeof createConsoleRouter>

declare module '@tanstack/react-router' {
  interface Register {
    router: ConsoleRouter
  }
}

/** After a session ended: back to where one was, once somebody has signed in again. */
export function goToSignIn(router: ConsoleRouter): void {
  const { pathname, href } = router.state.location
  if (pathname === '/sign-in') return
  // Who it was is forgotten when the page is gone: what is still shown has to know it.
  void router
    .navigate({ to: '/sign-in', search: href === '/' ? {} : { to: href } })
    .then(() => router.options.context.client.removeQueries({ queryKey: sessionQuery.queryKey }))
}
