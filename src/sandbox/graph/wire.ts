/** Reading JSON that comes from outside, one small question at a time. */
export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export const asList = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
