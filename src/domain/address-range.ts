/** IP addresses and ranges (`192.0.2.0/24`) as people list them. */
import ipaddr from 'ipaddr.js'

export const isAddressOrRange = (text: string): boolean =>
  ipaddr.isValid(text)
    ? ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text)
    : ipaddr.isValidCIDR(text)
