import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { createSelfSignedCertificate } from './self-signed-certificate.ts'

const hosts = ['localhost', '127.0.0.1', '::1']

test('OpenSSL reads the certificate and finds it signed by itself', () => {
  const now = new Date('2026-11-15T12:00:00Z')
  const { cert } = createSelfSignedCertificate(hosts, now)
  const read = new X509Certificate(cert)
  expect(read.verify(read.publicKey)).toBe(true)
  expect(read.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1')
  expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(read.checkHost('example.com')).toBeUndefined()
  expect(new Date(read.validTo).getTime()).toBe(now.getTime() + 3650 * 86_400_000)
})

test.each(['127.0.0.1', 'localhost'])(
  'a client that trusts it connects by %s with all checks on',
  async (host) => {
    const { key, cert } = createSelfSignedCertificate(hosts, new Date())
    const server = createServer({ key, cert }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const trusting = connect(port, host, { ca: cert })
    await once(trusting, 'secureConnect')
    expect(trusting.authorized).toBe(true)
    trusting.destroy()
    const strange = connect(port, host)
    const [fault] = (await once(strange, 'error')) as [NodeJS.ErrnoException]
    expect(fault.code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    server.close()
  },
)
