import { expect, test } from 'vitest'
import { urlOf } from './api.ts'

test('paths are filled and escaped, and what is not given is left out of the query', () => {
  expect(urlOf('GET /messages/:id', { path: { id: 'a/b' } })).toBe('/admin/v1/messages/a%2Fb')
  expect(
    urlOf('GET /messages', { query: { recipient: 'a&b', state: '', limit: 50, cursor: undefined } }),
  ).toBe('/admin/v1/messages?recipient=a%26b&limit=50')
  expect(urlOf('GET /events', { query: { watch: ['msg_1', 'msg_2'] } })).toBe(
    '/admin/v1/events?watch=msg_1%2Cmsg_2',
  )
  expect(urlOf('GET /segments', {})).toBe('/admin/v1/segments')
})
