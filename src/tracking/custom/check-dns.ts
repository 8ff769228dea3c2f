// Whether the DNS record of a tracking host leads here. Asks with an empty cache: who has just
// published a record and checks again must not be told what was true a minute ago.
import { isIP } from 'node:net';
import type { App } from '../../app.ts';
import { messageOf } from '../../errors.ts';
import { createDns, type Dns, DnsError, isMissing } from '../../net/dns.ts';
import type { TrackingHostRow } from './queries.ts';
import { challengeName, trackingTarget } from './target.ts';

/** Between a name and where it points to. */
const longestChain = 8;

export type DnsFinding =
  | { found: 'yes' }
  /** Nothing is known: DNS did not answer. */
  | { found: 'unknown'; message: string }
  | { found: 'no'; message: string };

/** A resolver without memory for one check; `signal` ends what it asks. */
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

/** The next name that it points to; null where it points to none. @throws DnsError */
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
  // Where the zone flattens its CNAME, the addresses are all that is left of it.
  const own = await addressesOf(dns, hostname);
  const wanted = own.length === 0 ? [] : await addressesOf(dns, target);
  if (own.some((address) => wanted.includes(address))) return { found: 'yes' };
  const where = name !== hostname ? `points to ${name}` : own.length > 0 ? 'is elsewhere' : '';
  const message = where ? `${hostname} ${where}, not to ${target}` : `${hostname} has no record`;
  return { found: 'no', message: `${message}: publish ${hostname} CNAME ${target}` };
}

/** Where the challenge is by DNS, it has to be answered here. */
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

/** Never rejects but for a fault of ours. */
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
