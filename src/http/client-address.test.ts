import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { addressSet, createAddressReader } from './client-address.ts'

const call = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

test('without trusted proxies the header is not believed', () => {
  const addressOf = createAddressReader([])
  expect(addressOf(call('203.0.113.1', '198.51.100.1'))).toBe('203.0.113.1')
  expect(addressOf(call('::ffff:203.0.113.1'))).toBe('203.0.113.1')
})

test.each([
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', 'spoofed, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '192.0.2.9, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['10.0.0.1', '10.1.1.1', '10.1.1.1'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', 'nonsense', '10.0.0.1'],
  ['203.0.113.1', '198.51.100.1', '203.0.113.1'],
  ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
  ['2001:db8::1', '[2001:db8:1::9]:80', '2001:db8:1::9'],
  ['::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
])('from %s with "%s" it is %s', (remote, forwarded, expected) => {
  const addressOf = createAddressReader(['10.0.0.0/8', '2001:db8::1'])
  expect(addressOf(call(remote, forwarded))).toBe(expected)
})

test('what is no address or range is refused', () => {
  for (const item of ['1.2.3', '10.0.0.0/33', 'host', '::/129', '1.2.3.4/x'])
    expect(() => addressSet([item])).toThrow(item)
})
