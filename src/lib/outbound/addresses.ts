/** Which addresses of the Internet a user may make us connect to: ordinary public ones and no others. */
import ipaddr from 'ipaddr.js'

// `2000::/3` is all that is handed out as public IPv6. It also shuts out IPv4-compatible `::7f00:1`, which
// ipaddr.js calls unicast.
const publicIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')
// Azure's metadata and DNS server: a public address by its range, answered by the machine's own host.
const hostServices = new Set(['168.63.129.16'])

/** Why this address may not be connected to; undefined when it may. */
export function addressFault(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return 'is not an IP address'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== 'unicast') return `is a ${rangeNames[range] ?? 'special'} address`
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(publicIpv6)) return 'is a special address'
  if (hostServices.has(parsed.toString())) return 'is a metadata address'
  return undefined
}

const rangeNames: Record<string, string> = {
  loopback: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  linkLocal: 'link-local',
  carrierGradeNat: 'private',
  multicast: 'multicast',
  broadcast: 'broadcast',
  unspecified: 'unspecified',
  ipv4Mapped: 'mapped',
  rfc6052: 'translated',
  rfc6145: 'translated',
  '6to4': 'tunnelled',
  teredo: 'tunnelled',
  reserved: 'reserved',
}

/** The address inside a URL's host, without the brackets of IPv6; undefined when the host is a name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}
