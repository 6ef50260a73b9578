declare module 'pg/lib/utils.js' {
  /** How the driver writes a value that is bound to a statement. */
  export function prepareValue(value: unknown): unknown
}
