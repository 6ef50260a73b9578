/** What the callers asked and were told. Every request carries a mark in its text, by which it is known everywhere. */

export type Asked = {
  mark: string
  /** Sent with an Idempotency-Key, and again until there was an answer. */
  isKeyed: boolean
  /** Of every answer that said "accepted". */
  ids: string[]
  /** Tries after which nobody knows: reset, cut, no answer in time. */
  unanswered: number
  /** Tries answered 503. */
  refused: number
}

/** Seven digits between letters, so that no other number of a text is taken for one. */
const markForm = /m(\d{7})x/

export const markOf = (index: number): string => `m${String(index).padStart(7, '0')}x`

export const findMark = (text: string): string | undefined => markForm.exec(text)?.[0]
