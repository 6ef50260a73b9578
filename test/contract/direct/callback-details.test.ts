import { describe, expect, test } from 'vitest'
import { channels } from '../../../src/domain/channel.ts'
import { bodies, expectAccepted, expectInvalid, messageOf, smsBody, useDirect } from './support.ts'

const d = useDirect({ config: { outboundExceptions: ['callbacks=127.0.0.1:4711', 'files=127.0.0.1:4712'] } })
const c = () => d.company
const send = (url: unknown) => c().send('sms', smsBody({ callback_details: { url } }))

describe('callback_details', () => {
  test.for(channels)('is accepted on the %s route and stored with its custom fields', async (channel) => {
    const callback = { url: 'https://example.com/hook?a=1', custom_fields: { order: '7', empty: '' } }
    const answer = await c().send(channel, bodies[channel]({ callback_details: callback }))
    expectAccepted(answer)
    expect((await messageOf(d.app, answer)).callback).toMatchObject({
      url: 'https://example.com/hook?a=1',
      customFields: { order: '7', empty: '' },
    })
  })

  test.for<unknown>([
    null,
    {},
    { url: '' },
    { url: null },
    { custom_fields: { a: 'b' } },
    { custom_fields: 5 },
  ])('without a url it is as if not given: %j', async (details) => {
    const answer = await c().send('sms', smsBody({ callback_details: details }))
    expectAccepted(answer)
    expect((await messageOf(d.app, answer)).callback).toBeNull()
  })

  test.for<unknown>([5, true, {}, []])('a url that is no string: %j', async (url) => {
    expectInvalid(await send(url), 'callback_details.url')
  })

  test.for<unknown>([5, null, true, {}])(
    'a custom field that is no string, but null is not given: %j',
    async (value) => {
      const answer = await c().send(
        'sms',
        smsBody({ callback_details: { url: 'https://example.com', custom_fields: { x: value } } }),
      )
      if (value === null) expectAccepted(answer)
      else expectInvalid(answer, 'callback_details.custom_fields.x')
    },
  )

  test('custom fields have at most 1,000 characters, urls 2,048', async () => {
    const details = (length: number, urlLength: number) =>
      smsBody({
        callback_details: {
          url: `https://example.com/${'u'.repeat(urlLength - 20)}`,
          custom_fields: { x: 'x'.repeat(length) },
        },
      })
    expectAccepted(await c().send('sms', details(1000, 2048)))
    expectInvalid(
      await c().send('sms', details(1001, 2049)),
      'callback_details.custom_fields.x',
      'callback_details.url',
    )
  })
})

describe('the url is http or https without credentials', () => {
  test.for([
    'http://example.com',
    'https://example.com:8443/a?b#c',
    'HTTPS://EXAMPLE.COM',
    'https://93.184.216.34/x',
    'https://[2606:2800:220:1::1]/',
  ])('%s', async (url) => expectAccepted(await send(url)))

  test.for([
    'example.com',
    '/relative',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'gopher://example.com',
    'https://',
    'https://user@example.com',
    'https://user:secret@example.com',
    'https://exa mple.com',
    'not a url',
  ])('%s is 422', async (url) => expectInvalid(await send(url), 'callback_details.url'))
})

describe('a literal address or localhost is judged at once, in any spelling', () => {
  test.for([
    'http://localhost/',
    'http://LOCALHOST:8080/',
    'http://localhost./',
    'http://a.localhost/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://１２７.０.０.１/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://100.64.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[fe80::1]/',
    'http://[fc00::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[ff02::1]/',
  ])('%s', async (url) => expectInvalid(await send(url), 'callback_details.url'))

  test('names are not resolved: one that points inside is judged when connecting', async () => {
    expectAccepted(await send('https://inside.example.com/'))
  })

  test('an exception for callbacks is one host and port, for this purpose', async () => {
    expectAccepted(await send('http://127.0.0.1:4711/hook'))
    expectInvalid(await send('http://127.0.0.1:4712/hook'), 'callback_details.url')
    expectInvalid(await send('http://127.0.0.1:80/hook'), 'callback_details.url')
    expectInvalid(await send('http://user:x@127.0.0.1:4711/hook'), 'callback_details.url')
  })

  test('the answer names no secret of the url', async () => {
    const answer = await send('https://user:hunter2@example.com')
    expect(answer.text).not.toContain('hunter2')
  })
})
