/** TypeScript types of an OpenAPI document: one entry per route, named as the permissions name it. */
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi.ts'

const head = `/**
 * What the admin API takes and gives, by route. Written from its own schemas: do not change this by hand, but with
 * \`npm run pombo -- generate\`.
 */
`

export function typesOf(document: OpenApiDocument, prefix: string): string {
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      routeType(`${method.toUpperCase()} ${routePath(path, prefix)}`, operation),
    ),
  )
  return `${head}export type Api = {\n${routes.join('')}}\n`
}

const routePath = (path: string, prefix: string): string =>
  path.slice(prefix.length).replaceAll(/\{(\w+)\}/g, ':$1')

function routeType(name: string, operation: OpenApiOperation): string {
  const parametersIn = (place: string) => (operation.parameters ?? []).filter((one) => one.in === place)
  const shape = (place: string) => {
    const fields = parametersIn(place).map((one) => field(one.name, one.schema, one.required === true, 3))
    return fields.length > 0 ? `{\n${fields.join('')}    }` : 'undefined'
  }
  const answer = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))
  const body = operation.requestBody?.content['application/json'].schema
  const answered = answer?.[1].content?.['application/json'].schema
  return [
    `  /** ${operation.summary}. */\n`,
    `  '${name}': {\n`,
    `    path: ${shape('path')}\n`,
    `    query: ${shape('query')}\n`,
    `    body: ${body ? typeOf(body, 2) : 'undefined'}\n`,
    `    answer: ${answered ? typeOf(answered, 2) : 'undefined'}\n`,
    '  }\n',
  ].join('')
}

function field(name: string, schema: JsonSchema, isRequired: boolean, depth: number): string {
  const indent = '  '.repeat(depth)
  const { description } = schema
  const comment = typeof description === 'string' ? `${indent}/** ${description} */\n` : ''
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`
  return `${comment}${indent}${key}${isRequired ? '' : '?'}: ${typeOf(schema, depth)}\n`
}

function typeOf(schema: JsonSchema, depth: number): string {
  if (Array.isArray(schema['anyOf'])) return unionOf(schema['anyOf'].map((one) => typeOf(one, depth)))
  const { type } = schema
  if (Array.isArray(type)) return unionOf(type.map((one) => typeOf({ ...schema, type: one }, depth)))
  if (schema['const'] !== undefined) return literal(schema['const'])
  if (type === 'null') return 'null'
  if (Array.isArray(schema['enum'])) return unionOf(schema['enum'].map(literal))
  switch (type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return arrayOf(schema, depth)
    case 'object':
      return objectOf(schema, depth)
    default:
      return 'unknown'
  }
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", String.raw`\'`)}'` : JSON.stringify(value)

const unionOf = (types: string[]): string => {
  const all = [...new Set(types)]
  return all.includes('unknown') ? 'unknown' : all.join(' | ')
}

function arrayOf(schema: JsonSchema, depth: number): string {
  const items = (schema['items'] ?? (schema['prefixItems'] as JsonSchema[] | undefined)?.[0]) as
    | JsonSchema
    | undefined
  const item = items ? typeOf(items, depth) : 'unknown'
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function objectOf(schema: JsonSchema, depth: number): string {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const required = (schema['required'] ?? []) as string[]
  const others = schema['additionalProperties']
  if (properties.length === 0)
    return `Record<string, ${others && typeof others === 'object' ? typeOf(others as JsonSchema, depth) : 'unknown'}>`
  const fields = properties.map(([name, one]) => field(name, one, required.includes(name), depth + 1))
  return `{\n${fields.join('')}${'  '.repeat(depth)}}`
}
