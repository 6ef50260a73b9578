import { expect, test } from 'vitest'
import { readStopWord, stopWordsOf } from './stop-words.ts'

const usual = stopWordsOf({ stop: null, start: null })

test.each(['STOP', 'stop', ' Sair. ', '"PARE"', 'Cancelar!', 'unsubscribe', 'Párár'])('%s opts out', (text) =>
  expect(readStopWord(text, usual)).toBe('opted_out'),
)

test.each(['start', 'VOLTAR', 'Unstop.'])('%s opts in again', (text) =>
  expect(readStopWord(text, usual)).toBe('opted_in'),
)

test.each(['', '...', 'please do not stop', 'Can you cancel my order?', 'stop'.repeat(50)])(
  '"%s" is no such word',
  (text) => expect(readStopWord(text, usual)).toBeUndefined(),
)

test('words of the company take the place of the usual ones', () => {
  const own = stopWordsOf({ stop: ['Não quero'], start: null })
  expect(readStopWord('nao quero!', own)).toBe('opted_out')
  expect(readStopWord('STOP', own)).toBeUndefined()
  expect(readStopWord('start', own)).toBe('opted_in')
})
