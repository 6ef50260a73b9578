import { expect, test } from 'vitest'
import { fileFault, mimeTypeOf, whatsappKindOf } from './file-types.ts'

test('the type goes by the extension, in any case', () => {
  expect(mimeTypeOf('photo.JPG')).toBe('image/jpeg')
  expect(mimeTypeOf('archive.tar.zip')).toBe('application/zip')
  expect(mimeTypeOf('constructor')).toBeUndefined()
  expect(mimeTypeOf('a.constructor')).toBeUndefined()
  expect(whatsappKindOf('a.zip')).toBe('document')
})

test.each([
  ['whatsapp', 'a.png', 5 * 1024 * 1024, true],
  ['whatsapp', 'a.png', 5 * 1024 * 1024 + 1, false],
  ['whatsapp', 'a.mp4', 16 * 1024 * 1024 + 1, false],
  ['whatsapp', 'a.webp', 100 * 1024 + 1, false],
  ['whatsapp', 'a.pdf', 100 * 1024 * 1024, true],
  ['whatsapp', 'a.gif', 1, false],
  ['whatsapp', 'a.exe', 1, false],
  ['email', 'a.gif', 1, true],
  ['email', 'a.exe', 1, false],
  ['email', 'a.pdf', 25 * 1024 * 1024 + 1, false],
  ['email', 'a.pdf', undefined, true],
  ['sms', 'a.txt', 1, false],
] as const)('%s carries %s of %s bytes: %s', (channel, name, size, isCarried) => {
  expect(fileFault(channel, name, size) === undefined).toBe(isCarried)
})
