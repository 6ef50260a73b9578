import { expect, test } from 'vitest'
import { adminDocument } from './openapi.ts'
import { routes } from './routes.ts'

test('the document has every route, with its parameters, body and refusals', () => {
  for (const route of routes) {
    const path = `/admin/v1${route.path.replaceAll(/:(\w+)/g, '{$1}')}`
    const operation = adminDocument.paths[path]?.[route.method.toLowerCase()]
    expect(operation, `${route.method} ${route.path}`).toBeDefined()
    const parameters =
      operation!.parameters?.filter((parameter) => parameter.in === 'query').map(({ name }) => name) ?? []
    expect(parameters).toEqual(Object.keys(route.query?.properties ?? {}))
    expect(operation!.requestBody === undefined).toBe(route.body === undefined)
    expect(Object.keys(operation!.responses)).toEqual(expect.arrayContaining(['400', '401', '403']))
    expect(operation!.security).toEqual([{ bearer: [] }])
  }
  const count = Object.values(adminDocument.paths).flatMap((methods) => Object.keys(methods)).length
  expect(count).toBe(routes.length + 2)
})

test('nothing of our own keywords is left in it, and it is plain JSON', () => {
  const text = JSON.stringify(adminDocument)
  expect(text.match(/"x-[a-z-]+"/)).toBeNull()
  expect(JSON.parse(text)).toEqual(adminDocument)
})
