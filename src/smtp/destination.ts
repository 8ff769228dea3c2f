// From a recipient domain to the hosts and addresses that take its mail (RFC 5321 5.1, 7505). Asks
// the DNS and decides; opens no connection.
import { isIP } from 'node:net';
import { type Dns, DnsError, type MxAnswer } from '../net/dns.ts';
import { isPublicAddress } from '../net/network-address.ts';
import type { Random } from '../runtime/random.ts';
import type { ErrorCode, RemoteReply } from './outcome.ts';

/** An end without a connection; becomes an Outcome with the trace of the attempt. */
export interface Verdict {
  kind: 'deferred' | 'bounced' | 'failed';
  errorCode: ErrorCode;
  reply: RemoteReply;
}

/** One mail host in the order to try; `preference` as in the MX record. */
export interface MailHost {
  name: string;
  preference: number;
}

/** `isAuthenticated`: by DNSSEC, as far as the resolver says so. */
export type MailHosts =
  | { hosts: readonly MailHost[]; isAuthenticated: boolean; verdict: null }
  | { verdict: Verdict };
/** Never none: that is a verdict. */
export type Addresses = readonly [string, ...string[]];
export type HostAddresses = { addresses: Addresses; verdict: null } | { verdict: Verdict };

/** More hosts, or addresses of one host, are not looked at: nobody needs them, but for attacks. */
const maxHosts = 10;
const maxAddressesPerHost = 6;

/** A verdict without a server: in the words of `text`, as if the DNS had said them. */
export function verdict(
  kind: Verdict['kind'],
  errorCode: ErrorCode,
  enhancedCode: string,
  text: string,
): { verdict: Verdict } {
  return { verdict: { kind, errorCode, reply: { code: null, enhancedCode, text, verb: 'dns' } } };
}

/** What a failed look-up means; `missing` where the DNS says for certain that there is no such name. */
function judge(error: unknown, missing: { verdict: Verdict }): { verdict: Verdict } {
  if (!(error instanceof DnsError)) throw error;
  // CNAMEs that lead in a circle are a mistake under repair as often as not: the mail waits for it.
  if (error.temporary || error.kind === 'loop') {
    return verdict('deferred', 'connection', '4.4.3', `the DNS gives no answer: ${error.message}`);
  }
  if (error.kind === 'not-found' || error.kind === 'no-data') return missing;
  return verdict('bounced', 'invalid-domain', '5.4.4', error.message);
}

/** In random order: the load spreads over equals. */
function shuffle<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.float() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/**
 * The MX records, none where the name exists without any. That is as authenticated as the addresses
 * of the name: in a signed zone nobody can deny an MX record that there is.
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
 * The hosts for a domain by MX preference, in random order within one; the domain itself where it has
 * no MX record at all (RFC 5321 5.1). At most 10. Never rejects for what the DNS says.
 */
export async function findMailHosts(dns: Dns, random: Random, domain: string): Promise<MailHosts> {
  try {
    const { records, nullMx, authenticated: isAuthenticated } = await findMx(dns, domain);
    if (nullMx) {
      const text = `${domain} takes no mail: it publishes a null MX`;
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
    const text = `the domain ${domain} does not exist`;
    return judge(error, verdict('bounced', 'invalid-domain', '5.1.2', text));
  }
}

function isUsable(address: string, allowPrivate: boolean): boolean {
  return allowPrivate || isPublicAddress(address);
}

/**
 * The addresses of one mail host, IPv4 first, in random order within a family. Private ones are
 * left out unless `allowPrivate`; where nothing else is left, the verdict is a lasting failure.
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
    const text = `${host} resolves to a private address (${found[0]}), where no mail is delivered`;
    return verdict('failed', 'policy', '5.7.1', text);
  } catch (error) {
    const text = `the host ${host} has no address`;
    return judge(error, verdict('bounced', 'invalid-domain', '5.4.4', text));
  }
}

/** The addresses of a host that the configuration names: it may be anywhere. */
export async function findNamedAddresses(
  dns: Dns,
  random: Random,
  host: string,
): Promise<HostAddresses> {
  if (isIP(host) !== 0) return { addresses: [host], verdict: null };
  if (host === 'localhost') return { addresses: ['127.0.0.1', '::1'], verdict: null };
  const found = await findAddresses(dns, random, host, true);
  // A relay that does not resolve is our mistake, not the recipient's.
  if (!found.verdict || found.verdict.kind === 'deferred') return found;
  const { reply } = found.verdict;
  const text = `relay: ${reply.text}`;
  return verdict('deferred', 'connection', '4.4.3', text);
}

const weight = { deferred: 3, failed: 2, bounced: 1 } as const;

/** Of several hosts that could not be used: what may still change outweighs what is final. */
export function worstVerdict(verdicts: readonly Verdict[]): Verdict | null {
  return verdicts.toSorted((a, b) => weight[b.kind] - weight[a.kind])[0] ?? null;
}
