import { expect, test } from 'vitest'
import { mediaPath, readMediaUrl } from './media.ts'

const item = { id: '0198c0de-1234-7abc-8def-0123456789ab', extension: 'png' }

test('an address names its item whatever the host, and only with its extension', () => {
  const path = mediaPath(item)
  expect(path).toBe('/media/0198c0de12347abc8def0123456789ab.png')
  expect(readMediaUrl(`http://127.0.0.1:8080${path}`)).toEqual(item)
  expect(readMediaUrl(`https://pombo.example${path.toUpperCase().replace('/MEDIA', '/media')}?x=1`)).toEqual(
    item,
  )
})

test.each([
  '',
  'nonsense',
  '/media/0198c0de12347abc8def0123456789ab.png',
  'http://h/media/0198c0de12347abc8def0123456789ab',
  'http://h/media/0198c0de12347abc8def0123456789a.png',
  'http://h/x/media/0198c0de12347abc8def0123456789ab.png',
  'http://h/media/0198c0de12347abc8def0123456789ab.png/x',
])('%j names none', (url) => expect(readMediaUrl(url)).toBeUndefined())
