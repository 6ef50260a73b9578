/** OpenAPI 3.1 documents from the schemas that the routes read bodies by. */

export type JsonSchema = { [keyword: string]: unknown }

export type Parameter = {
  name: string
  in: 'header' | 'path' | 'query'
  description: string
  schema: JsonSchema
  required?: boolean
}

export type Answer = {
  description: string
  body?: object
  headers?: Record<string, string>
}

export type Operation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  description?: string
  parameters?: Parameter[]
  body?: object
  example?: unknown
  answers: Record<number, Answer>
  /** No token is asked for. */
  isOpen?: boolean
}

export type OpenApiDocument = {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, OpenApiOperation>>
  components: JsonSchema
}

/** `name` is its file: `/docs/unified.json`. */
export type ApiDocument = { name: string; document: OpenApiDocument }

export type OpenApiOperation = {
  summary: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { required: true; content: { 'application/json': { schema: JsonSchema; example?: unknown } } }
  responses: Record<
    string,
    { description: string; headers?: JsonSchema; content?: { 'application/json': { schema: JsonSchema } } }
  >
  security: JsonSchema[]
}

export function createOpenApi(
  info: { title: string; version: string; description: string },
  operations: Operation[],
): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of operations) (paths[operation.path] ??= {})[operation.method] = toOpenApi(operation)
  return {
    openapi: '3.1.0',
    info,
    paths,
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  }
}

function toOpenApi(operation: Operation): OpenApiOperation {
  const responses: OpenApiOperation['responses'] = {}
  for (const [status, answer] of Object.entries(operation.answers))
    responses[status] = {
      description: answer.description,
      headers: {
        'X-Request-Id': { description: 'Names this request in logs.', schema: { type: 'string' } },
        ...Object.fromEntries(
          Object.entries(answer.headers ?? {}).map(([name, description]) => [
            name,
            { description, schema: { type: 'string' } },
          ]),
        ),
      },
      ...(answer.body && { content: { 'application/json': { schema: forOpenApi(answer.body) } } }),
    }
  return {
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    ...(operation.parameters && { parameters: operation.parameters }),
    ...(operation.body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: forOpenApi(operation.body),
            ...(operation.example !== undefined && { example: operation.example }),
          },
        },
      },
    }),
    responses,
    security: operation.isOpen ? [] : [{ bearer: [] }],
  }
}

/** Our marks (see `lib/read-json.ts`) in words that every tool knows. */
export function forOpenApi(schema: object): JsonSchema {
  const { properties, items, patternProperties, anyOf, ...rest } = schema as JsonSchema
  const plain = Object.fromEntries(Object.entries(rest).filter(([keyword]) => !keyword.startsWith('x-')))
  if (rest['x-zero-is-not-given'] === true && rest['type'] === 'integer') plain['minimum'] = 0
  if (properties) {
    const required = (rest['required'] ?? []) as string[]
    plain['properties'] = Object.fromEntries(
      Object.entries(properties as Record<string, object>).map(([name, field]) => [
        name,
        required.includes(name) ? forOpenApi(field) : orNull(forOpenApi(field)),
      ]),
    )
  }
  if (patternProperties)
    plain['additionalProperties'] = forOpenApi(Object.values(patternProperties as Record<string, object>)[0]!)
  if (anyOf) plain['anyOf'] = (anyOf as object[]).map(forOpenApi)
  if (items) addItems(plain, rest, items)
  return plain
}

function addItems(plain: JsonSchema, marks: JsonSchema, items: object): void {
  const item = marks['x-null-items'] === true ? orNull(forOpenApi(items)) : forOpenApi(items)
  const lastMaxLength = marks['x-last-item-max-length']
  if (lastMaxLength === undefined) {
    plain['items'] = item
    return
  }
  const count = marks['maxItems'] as number
  plain['prefixItems'] = Array.from({ length: count }, (_, index) =>
    index === count - 1 ? { ...item, maxLength: lastMaxLength } : item,
  )
}

const orNull = (schema: JsonSchema): JsonSchema =>
  typeof schema['type'] === 'string' ? { ...schema, type: [schema['type'], 'null'] } : schema
