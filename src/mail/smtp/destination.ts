// Finds the hosts and addresses that accept mail for a recipient domain (RFC 5321 5.1, 7505).
// Queries the DNS and decides; opens no connection.
import { isIP } from 'node:net';
import { type Dns, DnsError, type MxAnswer } from '../../platform/net/dns.ts';
import { isPublicAddress } from '../../platform/net/network-address.ts';
import type { Random } from '../../platform/runtime/random.ts';
import type { ErrorCode, RemoteReply } from './outcome.ts';

/** A result that needs no connection. The attempt adds the trace, which makes it an Outcome. */
export interface Verdict {
  kind: 'deferred' | 'bounced' | 'failed';
  errorCode: ErrorCode;
  reply: RemoteReply;
}

/** A mail host; `preference` as in the MX record. Hosts are tried in their order. */
export interface MailHost {
  name: string;
  preference: number;
}

/** Hosts of a domain, or a verdict. `isAuthenticated`: validated by the resolver with DNSSEC. */
export type MailHosts =
  | { hosts: readonly MailHost[]; isAuthenticated: boolean; verdict: null }
  | { verdict: Verdict };
/** At least one address; a host without addresses has a verdict instead. */
export type Addresses = readonly [string, ...string[]];
export type HostAddresses = { addresses: Addresses; verdict: null } | { verdict: Verdict };

/** Most hosts of a domain, and most addresses of a host. Only attacks need more. */
const maxHosts = 10;
const maxAddressesPerHost = 6;

/** Builds a verdict without a reply code; `text` is shown as an answer of the DNS. */
export function verdict(
  kind: Verdict['kind'],
  errorCode: ErrorCode,
  enhancedCode: string,
  text: string,
): { verdict: Verdict } {
  return { verdict: { kind, errorCode, reply: { code: null, enhancedCode, text, verb: 'dns' } } };
}

/** Maps the temporary code of a verdict for an absent name to the code of a proven absence. */
const absences: ReadonlyMap<string, string> = new Map([
  ['4.1.2', '5.1.2'],
  ['4.4.4', '5.4.4'],
]);

/** Returns the permanent code of an answer that a name is absent; null for a different reply. */
export function absenceOf({ verb, enhancedCode }: Partial<RemoteReply>): string | null {
  return verb === 'dns' ? (absences.get(enhancedCode ?? '') ?? null) : null;
}

/**
 * Turns a failed look-up into a verdict. A missing name also defers, because zones are sometimes
 * wrong for an hour. src/outbound/queue/settling/absence.ts decides when the absence is final.
 */
function judge(error: unknown, code: string, missing: string): { verdict: Verdict } {
  if (!(error instanceof DnsError)) throw error;
  // A loop of CNAMEs is usually repaired soon, so the mail waits.
  if (error.temporary || error.kind === 'loop') {
    return verdict('deferred', 'connection', '4.4.3', `the DNS gives no answer: ${error.message}`);
  }
  if (error.kind === 'not-found' || error.kind === 'no-data') {
    return verdict('deferred', 'invalid-domain', code, missing);
  }
  return verdict('bounced', 'invalid-domain', '5.4.4', error.message);
}

/** Returns the items in random order, which distributes the load among hosts of equal rank. */
function shuffle<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.float() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/**
 * Returns the MX records; an empty list for a name without MX records. The empty list counts as
 * authenticated: way.ts also requires authenticated addresses, and nobody can hide an MX record in
 * a signed zone.
 */
async function findMx(dns: Dns, domain: string): Promise<MxAnswer> {
  try {
    return await dns.mx(domain);
  } catch (error) {
    if (error instanceof DnsError && error.kind === 'no-data')
      return { records: [], nullMx: false, authenticated: true };
    throw error;
  }
}

/**
 * Returns at most 10 hosts of a domain by MX preference, in random order within a preference.
 * Returns the domain itself if it has no MX record (RFC 5321 5.1). Never rejects because of a DNS
 * answer.
 */
export async function findMailHosts(dns: Dns, random: Random, domain: string): Promise<MailHosts> {
  try {
    const { records, nullMx, authenticated: isAuthenticated } = await findMx(dns, domain);
    if (nullMx) {
      const text = `${domain} accepts no mail: it publishes a null MX`;
      return verdict('bounced', 'invalid-domain', '5.1.10', text);
    }
    if (records.length === 0) {
      return { hosts: [{ name: domain, preference: 0 }], isAuthenticated, verdict: null };
    }
    const hosts = shuffle(records, random)
      .sort((a, b) => a.preference - b.preference)
      .map(({ exchange, preference }) => ({ name: exchange.toLowerCase(), preference }));
    const named = new Map(hosts.toReversed().map((host) => [host.name, host]));
    const unique = hosts.filter((host) => named.get(host.name) === host);
    return { hosts: unique.slice(0, maxHosts), isAuthenticated, verdict: null };
  } catch (error) {
    return judge(error, '4.1.2', `the domain ${domain} does not exist`);
  }
}

function isUsable(address: string, allowPrivate: boolean): boolean {
  return allowPrivate || isPublicAddress(address);
}

/**
 * Returns at most 6 addresses of a mail host, IPv4 first, in random order within a family. Skips
 * private addresses unless `allowPrivate`. If no address remains, the verdict is a permanent
 * failure.
 */
export async function findAddresses(
  dns: Dns,
  random: Random,
  host: string,
  allowPrivate: boolean,
): Promise<HostAddresses> {
  // An MX record names a host, never an address (RFC 5321 5.1).
  if (isIP(host) !== 0) {
    return verdict('bounced', 'invalid-domain', '5.4.4', `the MX ${host} is not a host name`);
  }
  try {
    const { ipv4, ipv6 } = await dns.addresses(host);
    const found = [...shuffle(ipv4, random), ...shuffle(ipv6, random)];
    const [first, ...more] = found.filter((address) => isUsable(address, allowPrivate));
    if (first !== undefined) {
      return { addresses: [first, ...more.slice(0, maxAddressesPerHost - 1)], verdict: null };
    }
    const text =
      `${host} resolves to a private address (${found[0]}), to which the service delivers no mail ` +
      'while delivery.direct.allowPrivateAddresses is false';
    return verdict('failed', 'policy', '5.7.1', text);
  } catch (error) {
    return judge(error, '4.4.4', `the host ${host} has no address`);
  }
}

/** Returns the addresses of a host that the configuration names, including private addresses. */
export async function findNamedAddresses(
  dns: Dns,
  random: Random,
  host: string,
): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { addresses: [host], verdict: null };
  if (host === 'localhost') return { addresses: ['127.0.0.1', '::1'], verdict: null };
  const found = await findAddresses(dns, random, host, true);
  // A relay that does not exist is a mistake of the operator, so the mail waits.
  if (!found.verdict || isUnanswered(found.verdict)) return found;
  const { reply } = found.verdict;
  const text = `relay: ${reply.text}`;
  return verdict('deferred', 'connection', '4.4.3', text);
}

/** Tells whether a verdict is a temporary failure for any reason except an absent name. */
function isUnanswered({ kind, reply }: Verdict): boolean {
  return kind === 'deferred' && absenceOf(reply) === null;
}

function weightOf(one: Verdict): number {
  if (isUnanswered(one)) return 3;
  return one.kind === 'failed' ? 2 : 1;
}

/**
 * Returns the verdict for several unusable hosts: a temporary failure has precedence over a
 * permanent failure and an absence. Returns null for an empty list.
 */
export function worstVerdict(verdicts: readonly Verdict[]): Verdict | null {
  return verdicts.toSorted((a, b) => weightOf(b) - weightOf(a))[0] ?? null;
}
