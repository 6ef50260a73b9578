/** The one client of the admin API, typed by route: `api.get('/messages/:id', { path: { id } })`. */
import type { Api } from './api-types.ts'

export type Route = keyof Api
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** The paths that have this method. */
export type PathOf<M extends Method> = Route extends infer R
  ? R extends `${M} ${infer P}`
    ? P
    : never
  : never
export type Get<P extends PathOf<'GET'>> = `GET ${P}` & Route
/** What a route answers: `AnswerOf<'GET /segments/:id'>`. */
export type AnswerOf<R extends Route> = Api[R]['answer']
export type BodyOf<R extends Route> = Api[R]['body']
export type QueryOf<R extends Route> = Api[R]['query']
/** One item of a list: `ItemOf<'GET /segments'>`. */
export type ItemOf<R extends Route> = AnswerOf<R> extends { items: (infer T)[] } ? T : never

/** Empty texts and undefined are left out, lists are joined by commas. */
export type LooseQuery = Record<string, string | number | boolean | readonly string[] | undefined>

type PathOption<R extends Route> = Api[R]['path'] extends undefined
  ? { path?: undefined }
  : { path: Api[R]['path'] }

export type Params<R extends Route> = PathOption<R> & {
  query?: NonNullable<QueryOf<R>> | LooseQuery
}

export type Call<R extends Route> = Params<R> & {
  body?: BodyOf<R>
  /** A file as it is, instead of JSON; give its type. */
  file?: Blob
  /** What `version` of the read was: the change is refused when somebody was quicker. */
  version?: string
  signal?: AbortSignal
}

export type Answered<R extends Route> = { data: AnswerOf<R>; version: string | undefined }

export type FieldErrors = Record<string, string[]>

export class ApiError extends Error {
  /** 0: the server could not be reached. */
  readonly status: number
  readonly errors: FieldErrors
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    more: { status: number; errors?: FieldErrors; requestId?: string; retryAfterSeconds?: number },
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = more.status
    this.errors = more.errors ?? {}
    this.requestId = more.requestId
    this.retryAfterSeconds = more.retryAfterSeconds
  }
}

export const apiPrefix = '/admin/v1'
/** Longer than any answer takes but an upload's, which has no bound but its size. */
const timeoutMs = 30_000

/** The address of a route, for links to files (CSV, media) and event streams. */
export function urlOf<R extends Route>(route: R, params: Params<R>): string {
  const [, pattern = ''] = route.split(' ')
  const values = (params.path ?? {}) as Record<string, string>
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params.query ?? {}))
    if (
      value !== undefined &&
      value !== null &&
      value !== '' &&
      !(Array.isArray(value) && value.length === 0)
    )
      query.set(name, Array.isArray(value) ? value.join(',') : String(value))
  return `${apiPrefix}${path}${query.size > 0 ? `?${query.toString()}` : ''}`
}

export async function call<R extends Route>(route: R, options: Call<R>): Promise<Answered<R>> {
  const method = route.slice(0, route.indexOf(' '))
  const bounds = [options.signal, options.file ? undefined : AbortSignal.timeout(timeoutMs)]
  const response = await reach(urlOf(route, options), {
    method,
    credentials: 'same-origin',
    headers: {
      // Asked for with the cookie on everything but a GET: no form and no other site can send it.
      ...(method !== 'GET' && { 'X-Pombo-Console': '1' }),
      ...(options.version !== undefined && { 'If-Match': `"${options.version}"` }),
      ...(options.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(options.file && { 'Content-Type': options.file.type || 'application/octet-stream' }),
    },
    signal: AbortSignal.any(bounds.filter((one) => one !== undefined)),
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    ...(options.file && { body: options.file }),
  })
  const text = await response.text()
  const data = parse(text)
  if (!response.ok) throw errorOf(response, data)
  const version = response.headers.get('etag')?.replace(/^W\//, '').replaceAll('"', '')
  return { data: data as AnswerOf<R>, version }
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError('', { status: 0 })
  }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorOf(response: Response, data: unknown): ApiError {
  const { message, errors, requestId } = (data ?? {}) as {
    message?: string
    errors?: FieldErrors
    requestId?: string
  }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(message ?? response.statusText, {
    status: response.status,
    errors,
    requestId,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  })
}

type Caller<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...options: Api[`${M} ${P}` & Route]['path'] extends undefined
    ? [Call<`${M} ${P}` & Route>?]
    : [Call<`${M} ${P}` & Route>]
) => Promise<AnswerOf<`${M} ${P}` & Route>>

const caller =
  <M extends Method>(method: M): Caller<M> =>
  async (path, ...[options]) => {
    const route = `${method} ${path}` as `${M} ${typeof path}` & Route
    const { data } = await call(route, (options ?? {}) as Call<typeof route>)
    return data
  }

export const api = {
  get: caller('GET'),
  post: caller('POST'),
  put: caller('PUT'),
  patch: caller('PATCH'),
  delete: caller('DELETE'),
}
