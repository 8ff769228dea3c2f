// What kind of network an IP address lies in: the guard in front of every connection that a stranger's
// DNS can steer (MX hosts, webhooks). The only doorway to ipaddr.js; opens no connection itself.
// Contract 1 (`delivery.mode`), 7 (private addresses).
import ipaddr from 'ipaddr.js';

/** Global unicast as IANA hands it out; everything else in IPv6 is special or unassigned. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4 || parsed.range() !== 'rfc6052') return parsed;
  // DNS64 on IPv6-only networks: the IPv4 address inside decides (RFC 6052 2.1).
  return new ipaddr.IPv4(parsed.toByteArray().slice(12));
}

/**
 * Whether an address belongs to the public Internet. False for private, loopback, link-local,
 * unspecified, multicast, carrier NAT and reserved ranges, for IPv4 wrapped into IPv6 by the range of
 * what is wrapped, and for anything that is not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed === null || parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalIpv6);
}
