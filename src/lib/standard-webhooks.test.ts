import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signWebhook } from './standard-webhooks.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

test('the published vector', () => {
  const headers = signWebhook(
    [secret],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    new Date(1_614_265_330_999),
    '{"test": 2432232314}',
  )
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('with two secrets a receiver that knows either is content, and one that knows neither is not', () => {
  const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const body = '{"name":"João 🕊"}'
  const headers = signWebhook([secret, other], 'evt_1', new Date(), body)
  expect(new Webhook(secret).verify(body, headers)).toEqual({ name: 'João 🕊' })
  expect(new Webhook(other).verify(body, headers)).toEqual({ name: 'João 🕊' })
  const stranger = new Webhook(`whsec_${Buffer.alloc(32, 9).toString('base64')}`)
  expect(() => stranger.verify(body, headers)).toThrow()
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow()
})

test('an id with a dot could be taken for another', () => {
  expect(() => signWebhook([secret], 'a.b', new Date(), '')).toThrow(/dot/)
})
