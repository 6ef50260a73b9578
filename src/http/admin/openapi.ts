/** The admin API as an OpenAPI document, from the very routes that are mounted. */
import { Type } from 'typebox'
import { createOpenApi, forOpenApi, type Answer, type Operation, type Parameter } from '../docs/openapi.ts'
import { prefix } from './index.ts'
import { permissions } from './permissions.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'
import { SignInBody } from './session.ts'

const ErrorOut = Type.Object({
  message: Type.String(),
  errors: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'What is wrong, by the field it is wrong with.',
    }),
  ),
  requestId: Type.String({ description: 'The same as the header `X-Request-Id`.' }),
})

const refusals: Record<number, Answer> = {
  400: { description: 'A field is missing or wrong.', body: ErrorOut },
  401: { description: 'Not signed in, or no such key.', body: ErrorOut },
  403: { description: 'Not allowed for this role or key.', body: ErrorOut },
  429: { description: 'Too many requests.', body: ErrorOut },
  503: { description: 'Starting, stopping, overloaded or without database.', body: ErrorOut },
}
const notFound: Answer = { description: 'No such thing in this company.', body: ErrorOut }
const conflict: Answer = { description: 'Something stands in the way.', body: ErrorOut }
const changedMeanwhile: Answer = { description: 'Changed since the version in `If-Match`.', body: ErrorOut }

const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  description: 'The `ETag` of the record as it was read: refuses the change when somebody was quicker.',
  schema: { type: 'string' },
}

const openPath = (path: string): string => prefix + path.replaceAll(/:(\w+)/g, '{$1}')

function parametersOf(route: Route): Parameter[] {
  const path = [...route.path.matchAll(/:(\w+)/g)].map(([, name], index): Parameter => ({
    name: name!,
    in: 'path',
    required: true,
    description: `An id like \`${route.ids?.[index]}_…\`.`,
    schema: { type: 'string' },
  }))
  const required = (route.query as { required?: string[] } | undefined)?.required ?? []
  const query = Object.entries(route.query?.properties ?? {}).map(([name, schema]): Parameter => {
    const { description = '', ...rest } = forOpenApi(schema) as { description?: string }
    return {
      name,
      in: 'query',
      description,
      schema: rest,
      ...(required.includes(name) && { required: true }),
    }
  })
  return [...path, ...query, ...(hasVersion(route) ? [ifMatch] : [])]
}

/** Changes of one record, and the few others that look at its version. */
const versioned: readonly string[] = ['PATCH /company', 'POST /templates/:id/submit']

const hasVersion = ({ method, path }: Route): boolean =>
  (/^(PATCH|PUT|DELETE)$/.test(method) && path.endsWith('/:id')) || versioned.includes(`${method} ${path}`)

function operationOf(route: Route): Operation {
  const answers: Record<number, Answer> = { ...refusals }
  if (route.ids) answers[404] = notFound
  if (route.audit) answers[409] = conflict
  if (hasVersion(route)) answers[412] = changedMeanwhile
  const status = route.status ?? (route.answer || route.audit === undefined ? 200 : 204)
  const { roles = [] } = permissions[`${route.method} ${route.path}`] ?? {}
  const parameters = parametersOf(route)
  return {
    method: route.method.toLowerCase() as Operation['method'],
    path: openPath(route.path),
    summary: route.summary,
    description: [route.description, `For ${roles.join(', ')}.`].filter(Boolean).join(' '),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { body: route.body }),
    answers: { [status]: { description: 'Done.', ...(route.answer && { body: route.answer }) }, ...answers },
  }
}

export const adminDocument = createOpenApi(
  {
    title: 'Admin API',
    version: '1',
    description:
      'Everything that the console does. People sign in and have a cookie; programs give a key as a bearer token. With a cookie every change needs the header `X-Pombo-Console: 1`.',
  },
  [
    {
      method: 'post',
      path: `${prefix}/session`,
      summary: 'Sign in',
      description:
        'Sets a cookie. Needs the header `X-Pombo-Console: 1`. 401 with `errors.code` asks for the code of the second factor.',
      isOpen: true,
      body: SignInBody,
      answers: { 200: { description: 'Signed in.' }, ...refusals },
    },
    {
      method: 'delete',
      path: `${prefix}/session`,
      summary: 'Sign out',
      isOpen: true,
      answers: { 204: { description: 'Signed out.' } },
    },
    ...routes.map(operationOf),
  ],
)
