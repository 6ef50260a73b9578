/** Finds values in an answer by a path such as `messages[0].error-text`. */
import { asText } from '../json.ts'

export const pathForm = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d{1,4}\])*$/

/** Undefined when there is nothing at that place; an empty path is the whole. */
export function valueAt(whole: unknown, path: string): unknown {
  let value = whole
  for (const step of path === '' ? [] : path.replaceAll(/\[(\d+)\]/g, '.$1').split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is an own property, of which nothing more is said
    value = (value as Record<string, unknown>)[step]
  }
  return value
}

/** Texts and numbers; a boolean too, since success is sometimes told by one. Undefined without a path. */
export function textAt(whole: unknown, path: string | undefined): string | undefined {
  if (path === undefined || path === '') return undefined
  const value = valueAt(whole, path)
  return typeof value === 'boolean' ? String(value) : asText(value)
}
