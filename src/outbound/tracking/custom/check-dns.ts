// Checks whether the DNS record of a tracking host leads here. Starts with an empty cache, so that
// a record that was just published counts at once.
import { isIP } from 'node:net';
import type { App } from '../../../core/app.ts';
import { messageOf } from '../../../platform/errors.ts';
import { createDns, type Dns, DnsError, isMissing } from '../../../platform/net/dns.ts';
import type { TrackingHostRow } from './queries.ts';
import { challengeName, trackingTarget } from './target.ts';

/** Most CNAMEs that are followed from a host to the target. */
const longestChain = 8;

export type DnsFinding =
  | { found: 'yes' }
  /** Unknown: DNS did not answer. */
  | { found: 'unknown'; message: string }
  | { found: 'no'; message: string };

/**
 * Runs `work` with a new resolver, which has an empty cache. Aborting `signal` ends the queries.
 */
export async function withFreshDns<T>(
  { config, clock, random }: App,
  signal: AbortSignal,
  work: (dns: Dns) => Promise<T>,
): Promise<T> {
  const dns = createDns({ servers: config.dns.servers, clock, random });
  const end = () => dns.close();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await work(dns);
  } finally {
    signal.removeEventListener('abort', end);
    dns.close();
  }
}

/** Returns the target of the CNAME of a name, or null. @throws DnsError */
async function aliasOf(dns: Dns, name: string): Promise<string | null> {
  try {
    const [target] = await dns.resolve(name, 'CNAME');
    return typeof target === 'string' ? target.toLowerCase().replace(/\.$/, '') : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function addressesOf(dns: Dns, name: string): Promise<string[]> {
  if (isIP(name) !== 0) return [name];
  try {
    const { ipv4, ipv6 } = await dns.addresses(name);
    return [...ipv4, ...ipv6];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function look(dns: Dns, hostname: string, target: string): Promise<DnsFinding> {
  let name = hostname;
  for (let i = 0; i < longestChain; i++) {
    const next = await aliasOf(dns, name);
    if (next === target) return { found: 'yes' };
    if (next === null) break;
    name = next;
  }
  // In a zone that flattens the CNAME, only the addresses show the target.
  const own = await addressesOf(dns, hostname);
  const wanted = own.length === 0 ? [] : await addressesOf(dns, target);
  if (own.some((address) => wanted.includes(address))) return { found: 'yes' };
  const where = name !== hostname ? `points to ${name}` : own.length > 0 ? 'is elsewhere' : '';
  const message = where ? `${hostname} ${where}, not to ${target}` : `${hostname} has no record`;
  return { found: 'no', message: `${message}: publish ${hostname} CNAME ${target}` };
}

/** Checks the delegation of the challenge, if the configuration proves hosts by DNS. */
async function lookForDelegation(
  { config }: App,
  dns: Dns,
  row: Pick<TrackingHostRow, 'id' | 'hostname'>,
): Promise<DnsFinding> {
  const { enabled, challenge } = config.tracking.acme;
  if (!enabled || challenge !== 'dns-01') return { found: 'yes' };
  const name = `_acme-challenge.${row.hostname}`;
  const wanted = challengeName(config, row);
  if ((await aliasOf(dns, name)) === wanted) return { found: 'yes' };
  return { found: 'no', message: `${name} does not lead here: publish ${name} CNAME ${wanted}` };
}

/**
 * Checks the DNS records of a host. A DNS error becomes a finding; only an internal error rejects.
 */
export async function checkDns(
  app: App,
  dns: Dns,
  row: Pick<TrackingHostRow, 'id' | 'hostname'>,
): Promise<DnsFinding> {
  try {
    const found = await look(dns, row.hostname, trackingTarget(app.config));
    return found.found === 'yes' ? await lookForDelegation(app, dns, row) : found;
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    const message = messageOf(error);
    return error.temporary ? { found: 'unknown', message } : { found: 'no', message };
  }
}
