/** What a person may answer to an SMS to get no more, or to get them again. Only as the whole text. */

const defaultStopWords = [
  'STOP',
  'STOPALL',
  'UNSUBSCRIBE',
  'CANCEL',
  'END',
  'QUIT',
  'SAIR',
  'PARE',
  'PARAR',
  'CANCELAR',
  'DESCADASTRAR',
  'REMOVER',
  'BAJA',
  'ALTO',
]
const defaultStartWords = ['START', 'UNSTOP', 'VOLTAR', 'INICIAR', 'RETORNAR', 'ALTA']

export type StopWords = { stop: ReadonlySet<string>; start: ReadonlySet<string> }

/** Case, accents, and what people put around a word ("Sair.", "« stop »") do not count. */
const wordOf = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toUpperCase()

const setOf = (words: readonly string[]): ReadonlySet<string> => new Set(words.map(wordOf).filter(Boolean))

/** The company's own words, each list in place of the default one. */
export const stopWordsOf = (own: {
  stop: readonly string[] | null
  start: readonly string[] | null
}): StopWords => ({
  stop: setOf(own.stop ?? defaultStopWords),
  start: setOf(own.start ?? defaultStartWords),
})

/** A text longer than any word is a letter, and not looked at. */
const maxLength = 100

export function readStopWord(text: string, words: StopWords): 'opted_out' | 'opted_in' | undefined {
  if (text.length > maxLength) return undefined
  const word = wordOf(text)
  if (words.stop.has(word)) return 'opted_out'
  return words.start.has(word) ? 'opted_in' : undefined
}
