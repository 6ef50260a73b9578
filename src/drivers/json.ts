/** Looks into what came over the wire without trusting its shape. */
export type JsonObject = Record<string, unknown>

export const asObject = (value: unknown): JsonObject =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object's values are unknown, which is all this says
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

export const asList = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.map(asObject) : [])

/** Numbers too, since Meta writes some ids both ways; empty is absent. */
export const asText = (value: unknown): string | undefined => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function parseObject(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? asObject(value) : undefined
  } catch {
    return undefined
  }
}
