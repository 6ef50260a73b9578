import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { verifyStandardWebhook } from './catcher.ts'
import { callApi, startTestSandbox } from './testing.ts'

test('the published vector of Standard Webhooks holds', () => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = Buffer.from('{"test": 2432232314}')
  expect(verifyStandardWebhook([secret], headers, body, 1614265330_000)).toBe('valid')
  expect(verifyStandardWebhook([secret], headers, body, 1614265330_000 + 301_000)).toBe('stale')
  expect(verifyStandardWebhook([secret], headers, Buffer.from('{}'), 1614265330_000)).toBe('invalid')
  expect(verifyStandardWebhook(['whsec_AAAA'], headers, body, 1614265330_000)).toBe('invalid')
  expect(verifyStandardWebhook([secret], {}, body, 1614265330_000)).toBe('unsigned')
})

test('callbacks are caught, judged with either secret of a rotation, and answered as told', async () => {
  const old = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const sandbox = await startTestSandbox({
    callbackSecrets: [`whsec_${Buffer.alloc(32, 2).toString('base64')}`, old],
  })
  const post = (path: string, headers: Record<string, string>, body: string) =>
    fetch(`${sandbox.catcher.url}${path}`, { method: 'POST', headers, body })
  const body = JSON.stringify({ type: 'message.delivered', data: { text: 'olá' } })
  const now = new Date()
  const signature = new Webhook(old).sign('evt_1', now, body)
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': signature,
  }
  expect((await post('/loja', headers, body)).status).toBe(200)
  expect((await post('/loja', headers, `${body} `)).status).toBe(200)
  expect((await callApi(sandbox, '/api/callbacks/outra', 'PUT', { status: 503 })).status).toBe(200)
  expect((await post('/outra', {}, body)).status).toBe(503)
  const { body: listed } = await callApi(sandbox, '/api/callbacks?name=loja')
  expect(listed.callbacks.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['invalid', 'valid'])
  expect(listed.callbacks[1]).toMatchObject({ webhookId: 'evt_1', body })
  expect((await callApi(sandbox, '/api/callbacks')).body.callbacks[0]).toMatchObject({
    name: 'outra',
    verdict: 'unsigned',
    answered: 503,
  })
  await sandbox.stop()
})
