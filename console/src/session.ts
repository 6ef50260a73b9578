/** Who is signed in, and what they may do. */
import { useQuery } from '@tanstack/react-query'
import { call, type AnswerOf, type Route } from './api.ts'

type Answer = AnswerOf<'GET /session'>
export type Role = 'administrator' | 'supervisor' | 'attendant' | 'viewer'
export type Session = Answer & { userId?: string; role: Role | null }

/** Not below the noun `session`, so that no change of another makes it be read again. */
export const sessionQuery = {
  queryKey: ['who'] as const,
  queryFn: async (): Promise<Session> => (await call('GET /session', {})).data as Session,
  staleTime: 60_000,
}

/** Of the person who is signed in; pages are only shown when somebody is. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (data === undefined) throw new Error('Nobody is signed in.')
  return data
}

/** `can('POST /segments')`: whether to offer it at all. */
export function useCan(): (route: Route) => boolean {
  const { permissions } = useSession()
  return (route) => permissions.includes(route)
}
