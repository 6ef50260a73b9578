/**
 * Request templates. A placeholder stands inside one value (a string of the JSON body, a field of the form, a piece of
 * the address, a header), and what is filled in is escaped for that place: nothing is ever joined to a body as text.
 */
export const placeholders = [
  'to',
  'from',
  'text',
  'id',
  'hookUrl',
  'validitySeconds',
  'user',
  'secret',
] as const
export type Placeholder = (typeof placeholders)[number]
export type Values = Record<Placeholder, string>

const form = /\{([A-Za-z]+)(:number)?\}/g
const wholeNumber = /^\{([A-Za-z]+):number\}$/

const isPlaceholder = (name: string): name is Placeholder => placeholders.some((known) => known === name)

/** The first name in braces that stands for nothing. */
export function unknownPlaceholder(text: string): string | undefined {
  for (const [whole, name] of text.matchAll(form)) if (!isPlaceholder(name!)) return whole
  return undefined
}

export const fillText = (
  text: string,
  values: Values,
  escape: (value: string) => string = (value) => value,
): string =>
  text.replaceAll(form, (whole, name: string) => (isPlaceholder(name) ? escape(values[name]) : whole))

/** Control characters would end a header; what is not visible ASCII is percent-encoded. */
export const headerSafe = (value: string): string => value.replaceAll(/[^\x20-\x7e]+/g, encodeURIComponent)

/** Fills every string of a JSON value; `"{validitySeconds:number}"` alone becomes a number. */
export function fillJson(template: unknown, values: Values): unknown {
  if (typeof template === 'string') {
    const [, name] = wholeNumber.exec(template) ?? []
    if (name !== undefined && isPlaceholder(name)) {
      const number = Number(values[name])
      return Number.isSafeInteger(number) ? number : values[name]
    }
    return fillText(template, values)
  }
  if (Array.isArray(template)) return template.map((item: unknown) => fillJson(item, values))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fillJson(value, values)]))
}

/** Objects key by key, lists item by item; anything else is replaced. */
export function mergeJson(base: unknown, more: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(more)) {
    const length = Math.max(base.length, more.length)
    return Array.from({ length }, (_, at) =>
      at < more.length ? mergeJson(base[at], more[at]) : (base[at] as unknown),
    )
  }
  if (!isObject(base) || !isObject(more)) return more
  const merged = { ...base }
  for (const [key, value] of Object.entries(more))
    merged[key] = Object.hasOwn(base, key) ? mergeJson(base[key], value) : value
  return merged
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function parseTemplate(text: string | undefined): unknown {
  try {
    return text === undefined || text.trim() === '' ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}
