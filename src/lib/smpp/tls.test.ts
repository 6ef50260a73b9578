import { afterEach, expect, test } from 'vitest'
import { connectSmpp } from './client.ts'
import type { SmppTarget } from './client.ts'
import { listenSmpp } from './server.ts'

// Made for this test and used nowhere else; valid for localhost and 127.0.0.1 until 2126.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggGdPNKlHyBE0schf
LTKw+Tr7v4Nc1Mk/piQG1Djpsz+hRANCAAToqowjYEszwu8EBcbgk+DbWVdgXjfR
1Nh3NH78Y5bn/QYBZtGHaq4pYIoX7b1ATF5Ro7/91vBdLAnBjn8e0oon
-----END PRIVATE KEY-----
`
const cert = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUNTaT+qRM3wP3vIPE584yPILjq+kwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTAyNDQzMVoYDzIxMjYxMDIy
MDI0NDMxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAToqowjYEszwu8EBcbgk+DbWVdgXjfR1Nh3NH78Y5bn/QYBZtGHaq4p
YIoX7b1ATF5Ro7/91vBdLAnBjn8e0oono28wbTAdBgNVHQ4EFgQUYCmPT20CoZ9n
pz9Nf9hqavc/TyAwHwYDVR0jBBgwFoAUYCmPT20CoZ9npz9Nf9hqavc/TyAwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAL/sW/v3zhr6uL38A1BjLkoHV6j1M4xN1IqMjrhBHpYmAiEA
omlhj5Bp2o/O3qB8C9g5L0dlImztFlVJ6p36+Z4V680=
-----END CERTIFICATE-----
`

const cleanups: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function secureServer() {
  const server = await listenSmpp(
    { host: '127.0.0.1', port: 0, tls: { key, cert } },
    { onRequest: () => ({ systemId: 'smsc', messageId: 'id' }) },
  )
  cleanups.push(() => server.close())
  return server
}

test('over TLS, with the certificate checked', async () => {
  const { port } = await secureServer()
  const session = await connectSmpp({ host: '127.0.0.1', port, tls: { ca: cert } })
  cleanups.push(() => session.destroy('test over'))
  expect(await session.request({ command: 'bind_transceiver' })).toMatchObject({ isOk: true })
  expect(await session.request({ command: 'submit_sm' })).toMatchObject({
    isOk: true,
    pdu: { messageId: 'id' },
  })
  await session.unbind()
})

test('a certificate that nobody vouches for, and a plain peer, are no connection', async () => {
  const secure = await secureServer()
  const target: SmppTarget = { host: '127.0.0.1', port: secure.port, tls: true }
  await expect(connectSmpp(target)).rejects.toThrow(/self.signed/)
  const plain = await listenSmpp({ host: '127.0.0.1', port: 0 })
  cleanups.push(() => plain.close())
  await expect(connectSmpp({ ...target, port: plain.port })).rejects.toThrow(/./)
  const silent = await connectSmpp({ host: '127.0.0.1', port: secure.port }, { responseTimeoutMs: 100 })
  cleanups.push(() => silent.destroy('test over'))
  expect(await silent.request({ command: 'bind_transceiver' })).toMatchObject({ kind: 'lost' })
})

test('a handshake that never comes is given up', async () => {
  const server = await listenSmpp(
    { host: '127.0.0.1', port: 0 },
    { enquireLinkMs: 0, maxPduBytes: 1_000_000_000 },
  )
  cleanups.push(() => server.close())
  const connecting = connectSmpp({
    host: '127.0.0.1',
    port: server.port,
    tls: { ca: cert },
    connectTimeoutMs: 50,
  })
  await expect(connecting).rejects.toThrow(/within 50 ms/)
})
