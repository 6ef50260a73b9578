/**
 * A self-signed X.509 certificate for loopback servers. Node signs but does not issue, and a certificate whose
 * private key is published (as test servers ship it) protects nothing, so the few DER fields are written here.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'

export type SelfSignedCertificate = { key: string; cert: string; expiresAt: Date }

const tlv = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const size = body.length
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: Uint8Array[]) => tlv(0x30, ...parts)
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const utf8 = (text: string) => tlv(0x0c, Buffer.from(text, 'utf8'))

/** X.509 writes instants before 2050 as UTCTime, later ones as GeneralizedTime. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)
  return at.getUTCFullYear() < 2050
    ? tlv(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tlv(0x18, Buffer.from(`${digits}Z`))
}

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const extension = (id: string, isCritical: boolean, value: Buffer) =>
  isCritical
    ? sequence(oid(id), tlv(0x01, Buffer.from([0xff])), tlv(0x04, value))
    : sequence(oid(id), tlv(0x04, value))

function generalName(host: string): Buffer {
  if (isIPv4(host)) return tlv(0x87, Buffer.from(host.split('.').map(Number)))
  if (host === '::1') return tlv(0x87, Buffer.concat([Buffer.alloc(15), Buffer.from([1])]))
  if (isIPv6(host))
    throw new Error(`Of IPv6 addresses only ::1 can be named in the certificate, not ${host}.`)
  return tlv(0x82, Buffer.from(host, 'ascii'))
}

export function createSelfSignedCertificate(
  hosts: string[],
  now: Date,
  validDays = 3650,
): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x7f) | 0x40 // positive, and without a leading zero octet
  const name = sequence(tlv(0x31, sequence(oid('550403'), utf8(hosts[0] ?? 'localhost'))))
  const expiresAt = new Date(now.getTime() + validDays * 86_400_000)
  const extensions = sequence(
    extension('551d13', true, sequence(tlv(0x01, Buffer.from([0xff])))), // basicConstraints: it vouches for itself
    extension('551d0f', true, tlv(0x03, Buffer.from([0x02, 0x84]))), // keyUsage: digitalSignature, keyCertSign
    extension('551d25', false, sequence(oid('2b06010505070301'))), // extendedKeyUsage: serverAuth
    extension('551d11', false, sequence(...hosts.map(generalName))), // subjectAltName
  )
  const toBeSigned = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    ecdsaWithSha256,
    name,
    sequence(time(new Date(now.getTime() - 3_600_000)), time(expiresAt)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, extensions),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const der = sequence(toBeSigned, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature))
  const lines = der
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    expiresAt,
  }
}
