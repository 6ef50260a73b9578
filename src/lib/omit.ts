/** The record without one of its fields. */
export function omit<T extends object, K extends keyof T>(record: T, field: K): Omit<T, K> {
  const { [field]: _, ...rest } = record
  return rest
}
