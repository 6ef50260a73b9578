/** What became of an attempt to save something that a person typed: the thing, or what is wrong with it by field. */
export type FieldProblem = { field: string; message: string }

export type Saved<T> = { ok: true; value: T } | { ok: false; problems: FieldProblem[] }

export const saved = <T>(value: T): Saved<T> => ({ ok: true, value })

export const notSaved = <T>(...problems: FieldProblem[]): Saved<T> => ({ ok: false, problems })

export const taken = (field: string, value: string): FieldProblem => ({
  field,
  message: `"${value.trim()}" is already taken`,
})

/** Lengths count Unicode code points. */
export const countCharacters = (text: string): number => Array.from(text).length

/** Names are what people type to find a thing again: something visible, one line, at most 255 characters. */
export function checkName(field: string, value: string): FieldProblem[] {
  const length = countCharacters(value.trim())
  if (length === 0) return [{ field, message: 'must not be empty' }]
  if (length > 255) return [{ field, message: 'must have at most 255 characters' }]
  if (/\p{Cc}|\p{Cs}/u.test(value))
    return [{ field, message: 'must not contain line breaks or other control characters' }]
  return []
}

export function checkTimeZone(field: string, value: string): FieldProblem[] {
  try {
    return Intl.DateTimeFormat('en', { timeZone: value }) && []
  } catch {
    return [{ field, message: `"${value}" is not a time zone; one looks like America/Sao_Paulo` }]
  }
}

export const showProblems = (problems: readonly FieldProblem[]): string =>
  problems.map(({ field, message }) => `${field} ${message}`).join('; ')
