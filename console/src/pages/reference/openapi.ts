/** An OpenAPI document as the page needs it; the types are the server's own. */
import { queryOptions } from '@tanstack/react-query'
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from '../../../../src/http/docs/openapi.ts'
import { ApiError } from '../../api.ts'
import { text } from '../../text/index.ts'

export type { OpenApiOperation } from '../../../../src/http/docs/openapi.ts'
export type ApiName = 'unified' | 'direct'

export const documentQuery = (name: ApiName) =>
  queryOptions({
    queryKey: ['docs', name],
    staleTime: Infinity,
    queryFn: async (): Promise<OpenApiDocument> => {
      const answer = await fetch(`/docs/${name}.json`, { signal: AbortSignal.timeout(15_000) })
      if (!answer.ok) throw new ApiError(text.reference.failed, { status: answer.status })
      return (await answer.json()) as OpenApiDocument
    },
  })

export type ShownOperation = { id: string; method: string; path: string; operation: OpenApiOperation }

export const operationsOf = (document: OpenApiDocument): ShownOperation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: path.replaceAll('/', '-').slice(1),
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

export type FieldRow = {
  path: string
  type: string
  isRequired: boolean
  description: string
  limits: string
}

/** Nested fields one after another, named by their path. */
export function fieldRows(schema: JsonSchema, prefix = ''): FieldRow[] {
  const required = (schema['required'] ?? []) as string[]
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  return properties.flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const row: FieldRow = {
      path,
      type: typeOf(field),
      isRequired: required.includes(name),
      description: typeof field['description'] === 'string' ? field['description'] : '',
      limits: limitsOf(field),
    }
    const items = field['items'] as JsonSchema | undefined
    return [row, ...fieldRows(field, `${path}.`), ...(items ? fieldRows(items, `${path}[].`) : [])]
  })
}

export function typeOf(schema: JsonSchema): string {
  const { type } = schema
  if (typeof schema['const'] === 'string') return `"${schema['const']}"`
  if (Array.isArray(schema['enum'])) return schema['enum'].map(String).join(' | ')
  if (Array.isArray(schema['anyOf']))
    return schema['anyOf'].map((part) => typeOf(part as JsonSchema)).join(' | ')
  const name: unknown = Array.isArray(type) ? type.find((item) => item !== 'null') : type
  return typeof name === 'string' ? name : 'any'
}

function limitsOf(schema: JsonSchema): string {
  const { maxLength, maxItems } = schema
  return [
    typeof maxLength === 'number' && text.reference.atMost(maxLength, 'characters'),
    typeof maxItems === 'number' && text.reference.atMost(maxItems, 'items'),
    schema['default'] !== undefined && text.reference.byDefault(JSON.stringify(schema['default'])),
  ]
    .filter(Boolean)
    .join(', ')
}
