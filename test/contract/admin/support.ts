/** A person or a program that calls the admin API over real HTTP. */
import { startApp, type App, type AppOptions } from '../../harness/app.ts'
import { makeUser, type TestCompany, type TestUser } from '../../harness/factories.ts'
import { request, type Answer, type RequestOptions } from '../../harness/http.ts'
import { must } from '../../harness/factories.ts'
import { createAdminKey, type KeyScope } from '../../../src/store/admin-keys.ts'
import type { UserRole } from '../../../src/store/users.ts'

export type Client = {
  call(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<Answer>
  get(path: string): Promise<Answer>
  cookie: string
  headers: Record<string, string>
}

/** An app in part, or the whole of it. */
export type Reach = Pick<App, 'url' | 'db'>

export const base = '/admin/v1'

export const startAdmin = (options?: AppOptions): Promise<App> => startApp(options)

export const cookieOf = (answer: Answer): string => (answer.headers['set-cookie'] ?? '').split(';')[0]!

export function clientWith(app: Reach, headers: Record<string, string>): Client {
  const call = (method: string, path: string, body?: unknown, options: RequestOptions = {}) =>
    request(`${app.url}${base}${path}`, {
      ...options,
      method,
      headers: { 'x-pombo-console': '1', ...headers, ...options.headers },
      ...(body !== undefined && { body }),
    })
  return { call, get: (path) => call('GET', path), cookie: headers['cookie'] ?? '', headers }
}

export const signInAnswer = (
  app: Reach,
  company: { name: string },
  user: { name: string; password: string },
  extra: Record<string, unknown> = {},
  options: RequestOptions = {},
): Promise<Answer> =>
  request(`${app.url}${base}/session`, {
    ...options,
    headers: { 'x-pombo-console': '1', ...options.headers },
    body: { company: company.name, username: user.name, password: user.password, ...extra },
  })

export async function signIn(app: Reach, company: TestCompany, user: TestUser): Promise<Client> {
  const answer = await signInAnswer(app, company, user)
  if (answer.status !== 200) throw new Error(`Sign-in answered ${answer.status}: ${answer.text}`)
  return clientWith(app, { cookie: cookieOf(answer) })
}

export async function signInAs(
  app: Reach,
  company: TestCompany,
  role: UserRole,
): Promise<{ client: Client; user: TestUser }> {
  const user = await makeUser(app.db, company.id, role)
  return { client: await signIn(app, company, user), user }
}

export async function keyClient(
  app: Reach,
  company: TestCompany,
  scopes: KeyScope[],
  userId?: string,
): Promise<Client> {
  const { key } = must(await createAdminKey(app.db, company.id, { name: 'Program', scopes, userId }, 'test'))
  return clientWith(app, { authorization: `Bearer ${key}` })
}

export const items = (answer: Answer): Record<string, unknown>[] =>
  answer.body['items'] as Record<string, unknown>[]
