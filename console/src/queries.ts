/** Reading and changing by route, on TanStack Query. A change makes everything of its noun be read again. */
import {
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { notifications } from '@mantine/notifications'
import type { Api } from './api-types.ts'
import {
  ApiError,
  call,
  type AnswerOf,
  type Answered,
  type Call,
  type Params,
  type PathOf,
  type Route,
} from './api.ts'
import { sessionQuery, type Session } from './session.ts'

/** `/segments/:id` is of `segments`: what a change there makes stale. */
const nounOf = (path: string): string => path.split('/')[1] ?? ''

export const keyOf = (route: Route, params: object = {}): readonly unknown[] => {
  const path = route.slice(route.indexOf(' ') + 1)
  return [nounOf(path), path, params]
}

const fetchRoute = <R extends Route>(route: R, params: Params<R>) => ({
  queryKey: keyOf(route, params),
  queryFn: ({ signal }: { signal: AbortSignal }) => call(route, { ...params, signal } as Call<R>),
})

export type QueryOptions = {
  isEnabled?: boolean
  /** Asks again this often while the page is looked at. */
  everyMs?: number | false
  /** Shows the former answer until the new one is here: for pages of a list. */
  keepsFormer?: boolean
}

export type ApiQuery<R extends Route> = Pick<
  UseQueryResult<Answered<R>, ApiError>,
  'isPending' | 'isFetching' | 'isPlaceholderData' | 'dataUpdatedAt' | 'refetch'
> & {
  data: AnswerOf<R> | undefined
  /** Of the record: send it back with a change. */
  version: string | undefined
  error: ApiError | null
}

const refused = new ApiError('', { status: 403 })

type GetParams<P extends PathOf<'GET'>> = Params<`GET ${P}` & Route>

export function useApiQuery<P extends PathOf<'GET'>>(
  path: P,
  ...[params, options = {}]: Api[`GET ${P}` & Route]['path'] extends undefined
    ? [GetParams<P>?, QueryOptions?]
    : [GetParams<P>, QueryOptions?]
): ApiQuery<`GET ${P}` & Route> {
  const route = `GET ${path}` as `GET ${P}` & Route
  const session = useQueryClient().getQueryData<Session>(sessionQuery.queryKey)
  // What would be refused is not asked for.
  const isRefused = session !== undefined && !session.permissions.includes(route)
  const result = useQuery<Answered<typeof route>, ApiError>({
    ...fetchRoute(route, (params ?? {}) as GetParams<P>),
    enabled: !isRefused && (options.isEnabled ?? true),
    ...(options.everyMs !== undefined && { refetchInterval: options.everyMs }),
    ...(options.keepsFormer && { placeholderData: keepPreviousData }),
  })
  const { isPending, isFetching, isPlaceholderData, dataUpdatedAt, refetch } = result
  return {
    data: result.data?.data,
    version: result.data?.version,
    error: isRefused ? refused : result.error,
    isPending,
    isFetching,
    isPlaceholderData,
    dataUpdatedAt,
    refetch,
  }
}

export type MutationOptions<R extends Route> = {
  /** Told when it is done. */
  success?: string | ((answer: AnswerOf<R>) => string)
  /** Nouns to read again besides the route's own: `['lines', 'lanes']`. */
  alsoStale?: readonly string[]
  onSuccess?: (answer: AnswerOf<R>, version: string | undefined) => void
  /** Forms show their errors themselves; elsewhere a failure is told as a notification. */
  isQuietOnError?: boolean
}

/** `const remove = useApiMutation('DELETE /segments/:id', { success: text.segments.removed })`. */
export function useApiMutation<R extends Route>(route: R, options: MutationOptions<R> = {}) {
  const client = useQueryClient()
  return useMutation<Answered<R>, ApiError, Omit<Call<R>, 'signal'>>({
    mutationFn: (given) => call(route, given as Call<R>),
    meta: { isQuietOnError: options.isQuietOnError === true },
    onSuccess: async ({ data, version }, given) => {
      const { success } = options
      const message = typeof success === 'function' ? success(data) : success
      // An empty text: a step on the way, of which nothing is told.
      if (message) notifications.show({ message, color: 'green' })
      options.onSuccess?.(data, version)
      const stale = [nounOf(route.split(' ')[1] ?? ''), ...(options.alsoStale ?? [])]
      // What was removed is not asked for again, although the page that showed it may stand for a moment longer.
      // `DELETE /users/:id/totp` removes a part only: the user is read again.
      const removedId = /^DELETE .*\/:id$/.test(route) ? idIn(given) : undefined
      const predicate = ({ queryKey }: { queryKey: readonly unknown[] }) =>
        removedId === undefined || idIn(queryKey[2]) !== removedId
      await Promise.all(stale.map((noun) => client.invalidateQueries({ queryKey: [noun], predicate })))
    },
  })
}

/** The id in the path of a call, or of what a query asks for. */
const idIn = (params: unknown): string | undefined =>
  (params as { path?: { id?: string } } | undefined)?.path?.id

/** Reads once outside of a component: for loaders and buttons. */
export const readOnce = <R extends Route>(client: QueryClient, route: R, params: Params<R>) =>
  client.fetchQuery<Answered<R>, ApiError>(fetchRoute(route, params))

/** What trying again cannot mend is not tried again. */
const isWorthTrying = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 503)

export function createClient(on: { signedOut(): void; failed(error: Error): void }): QueryClient {
  const look = (error: Error) => {
    if (error instanceof ApiError && error.status === 401) on.signedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError: look }),
    mutationCache: new MutationCache({
      onError: (error, _given, _context, mutation) => {
        look(error)
        if (mutation.meta?.['isQuietOnError'] !== true) on.failed(error)
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (count, error) => isWorthTrying(error) && count < 2,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  })
}
