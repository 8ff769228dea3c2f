// Servers of RDAP by domain. Uses the list of IANA (RFC 9224) for a day. While IANA does not
// answer, uses the last list, or else the shipped list.
import { readFileSync } from 'node:fs';
import type { App } from '../../../core/app.ts';
import { getFromStranger, type Patience } from '../../../platform/net/http/client.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';

/** Base URLs of RDAP servers by domain suffix. */
export type RdapServers = ReadonlyMap<string, readonly string[]>;

const ianaList = new URL('https://data.iana.org/rdap/dns.json');
const dayMs = 24 * 3600_000;
/** Delay before IANA is asked again after a failure. */
const againMs = 10 * 60_000;

const keptOf = perApp((_app: App) => ({
  servers: null as RdapServers | null,
  askAgainAt: 0,
  underWay: null as Promise<RdapServers> | null,
}));

/** Returns the servers of RDAP. Never rejects. */
export async function rdapServers(app: App, patience: Patience): Promise<RdapServers> {
  const kept = keptOf(app);
  if (kept.servers && app.clock.now() < kept.askAgainAt) return kept.servers;
  kept.underWay ??= fetchServers(app, patience).then((found) => {
    kept.servers = found ?? kept.servers ?? shippedServers();
    kept.askAgainAt = app.clock.now() + (found ? dayMs : againMs);
    kept.underWay = null;
    return kept.servers;
  });
  return kept.underWay;
}

async function fetchServers(app: App, patience: Patience): Promise<RdapServers | null> {
  try {
    const answer = await getFromStranger(app, ianaList, 'application/json', patience);
    const { statusCode, text } = answer;
    if (statusCode !== 200) throw new Error(`${ianaList.host} answered with status ${statusCode}`);
    return readServers(JSON.parse(text));
  } catch (error) {
    app.log.debug({ err: error }, 'the list of RDAP servers cannot be fetched');
    return null;
  }
}

function shippedServers(): RdapServers {
  const text = readFileSync(new URL('./rdap-servers.json', import.meta.url), 'utf8');
  return readServers(JSON.parse(text));
}

/** Reads a list in the form of RFC 9224 4. Leaves out entries of a different form. */
function readServers(list: unknown): RdapServers {
  const services: unknown = (list as { services?: unknown } | null)?.services;
  const servers = new Map<string, readonly string[]>();
  for (const service of Array.isArray(services) ? services : []) {
    const [names, urls] = Array.isArray(service) ? service.map(textsOf) : [];
    for (const name of names ?? []) servers.set(name.toLowerCase(), urls ?? []);
  }
  if (servers.size === 0) throw new Error('the list of RDAP servers has no entry');
  return servers;
}

function textsOf(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [];
  return all.filter((one) => typeof one === 'string');
}

/**
 * Returns the first HTTPS server for the longest suffix of `domain` that has an HTTPS server, with
 * a slash at the end. Null if no suffix has an HTTPS server.
 */
export function serverOf(servers: RdapServers, domain: string): string | null {
  const labels = domain.split('.');
  for (const from of labels.keys()) {
    const urls = servers.get(labels.slice(from).join('.'));
    const url = urls?.find((one) => one.startsWith('https://') && URL.canParse(one));
    if (url) return url.endsWith('/') ? url : `${url}/`;
  }
  return null;
}
