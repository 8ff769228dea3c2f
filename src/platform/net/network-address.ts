// Classifies IP addresses by network. Callers use it to refuse connections to private networks that
// foreign DNS records name (MX hosts, webhooks), and to match the ranges of API keys. Only this
// file uses ipaddr.js. Opens no connection.
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** A block of addresses (CIDR). */
export interface AddressRange {
  /** Range in normal form, such as `203.0.113.0/24` or `2001:db8::/32`. */
  text: string;
  /** Whether the written address is the first address of the range, as it should be. */
  isAligned: boolean;
  network: ipaddr.IPv4 | ipaddr.IPv6;
  bits: number;
}

/** Global unicast addresses (IANA). All remaining IPv6 ranges are special or unassigned. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4 || parsed.range() !== 'rfc6052') return parsed;
  // On IPv6-only networks with DNS64, the embedded IPv4 address decides (RFC 6052 2.1).
  return new ipaddr.IPv4(parsed.toByteArray().slice(12));
}

/**
 * Tells whether an address belongs to the public Internet. False for private, loopback, link-local,
 * unspecified, multicast, carrier NAT and reserved ranges, and for invalid addresses. For an
 * IPv4-mapped IPv6 address the IPv4 range decides.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed === null || parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalIpv6);
}

/**
 * Tells whether a configured host (a name or an address) is `localhost`, `::1` or in 127.0.0.0/8.
 */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Tells whether an address is in the loopback network, even as an IPv4-mapped address. */
export function isLoopbackAddress(address: string): boolean {
  return parse(address)?.range() === 'loopback';
}

/** Returns the address to dial for a listener: loopback for a listener bound to every address. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Returns the URL of a listener for HTTP on this machine. */
export function urlAt(host: string, port: number): string {
  const address = reachable(host);
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * Tells whether a connection to this address ends on this machine: loopback, unspecified (0.0.0.0
 * and ::) or the address of an interface of this machine, IPv4-mapped addresses included.
 */
export function isThisMachine(address: string): boolean {
  const parsed = parse(address);
  if (parsed === null) return false;
  if (parsed.range() === 'loopback' || parsed.range() === 'unspecified') return true;
  const text = parsed.toString();
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((one) => parse(one.address)?.toString() === text);
}

/**
 * Returns the labels of an address in reverse, as in DNS names: `1.2.0.192` for 192.0.2.1, and 32
 * digits for an IPv6 address (RFC 3596 2.5).
 */
export function reversedLabels(address: string): string {
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  if (parsed instanceof ipaddr.IPv4) return bytes.reverse().join('.');
  const digits = bytes.flatMap((byte) => [byte >> 4, byte & 15]);
  return digits
    .reverse()
    .map((digit) => digit.toString(16))
    .join('.');
}

/**
 * Parses the address before the slash. An IPv4-mapped IPv6 address (RFC 4291 2.5.5.2) becomes IPv4,
 * and `wrapped` is the 96 bits to subtract from the prefix length.
 */
function parseNetwork(address: string): { network: ipaddr.IPv4 | ipaddr.IPv6; wrapped: number } {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    return { network: ipaddr.IPv4.parse(address), wrapped: 0 };
  }
  const network = ipaddr.IPv6.parse(address);
  if (!network.isIPv4MappedAddress()) return { network, wrapped: 0 };
  return { network: network.toIPv4Address(), wrapped: 96 };
}

/**
 * Matches an IPv4-compatible IPv6 address (RFC 4291 2.5.5.1), a deprecated form that ipaddr.js
 * takes for a mapped address.
 */
const deprecatedForm = /^::[0-9]+\./;

function isAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return true;
  return ipaddr.IPv6.isValid(text) && !deprecatedForm.test(text);
}

/** Parses a range in CIDR form, or a single address as a range; null if it is neither. */
export function parseRange(text: string): AddressRange | null {
  const [, address = '', prefix] = /^([0-9a-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/i.exec(text) ?? [];
  if (!isAddress(address)) return null;
  const { network, wrapped } = parseNetwork(address);
  const isIpv4 = network instanceof ipaddr.IPv4;
  const longest = isIpv4 ? 32 : 128;
  const bits = prefix === undefined ? longest : Number(prefix) - wrapped;
  if (bits < 0 || bits > longest) return null;
  const cidr = `${network.toString()}/${bits}`;
  const first = isIpv4
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
    : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  const isAligned = first.toString() === network.toString();
  return { text: `${first.toString()}/${bits}`, isAligned, network: first, bits };
}

function isWithin(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  { network, bits }: Pick<AddressRange, 'network' | 'bits'>,
): boolean {
  if (address instanceof ipaddr.IPv4) {
    return network instanceof ipaddr.IPv4 && address.match(network, bits);
  }
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}

/**
 * Tells whether the address is in any of the ranges. IPv4-mapped IPv6 counts as IPv4. False for an
 * invalid address.
 */
export function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  if (!isAddress(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some((range) => isWithin(parsed, range));
}

/** Tells whether all addresses of `inner` are in `outer`. */
export function hasRange(outer: AddressRange, inner: AddressRange): boolean {
  return inner.bits >= outer.bits && isWithin(inner.network, outer);
}

/**
 * Returns the network by which limits count unknown clients: the /24 of an IPv4 address, the /48 of
 * an IPv6 address.
 */
export function siteOf(address: string): string {
  const network = networkOf(address);
  if (network.endsWith('::/64')) return `${network.split(':').slice(0, 3).join(':')}::/48`;
  return `${network.slice(0, network.lastIndexOf('.'))}.0/24`;
}

/** Matches an IPv4 address in the form of a listener that is bound to `::` (RFC 4291 2.5.5.2). */
const mappedForm = /^::ffff:([0-9]{1,3}(?:\.[0-9]{1,3}){3})$/i;

/**
 * Returns the network that counts as a single client: an IPv4 address itself, or the /64 of an IPv6
 * address (RFC 6177).
 */
export function networkOf(written: string): string {
  const address = mappedForm.exec(written)?.[1] ?? written;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + last.length < 8) groups.push('0');
  const network = [...groups, ...last].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
