// The registrar of a domain and the host of its DNS. RDAP tells the registrar; the name servers
// tell the host. An answer is cached for an hour.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { messageOf } from '../../../platform/errors.ts';
import { foldName } from '../../../platform/net/dns-wire.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../../platform/runtime/recently-used.ts';
import { lookUpTurns } from '../check-turns.ts';
import { domains } from '../queries.ts';
import { type RegistrarAnswer, registeredDomain } from '../schema.ts';
import { dnsHostOf } from './dns-hosts.ts';
import { askRegistrar, type Registration } from './rdap.ts';
import { rdapServers, serverOf } from './rdap-servers.ts';

const patience = { connectMs: 3_000, totalMs: 5_000 };
const keptMs = 3600_000;
const mostKept = 1_000;
const mostNameServers = 20;

type Found = Omit<RegistrarAnswer, 'domain'>;

const keptOf = perApp((_app: App) => recentlyUsed<{ found: Found; until: number }>(mostKept));

const inTurn = lookUpTurns<Found>();

/**
 * Returns the registrar of a domain and its DNS host. A part that RDAP or DNS does not answer is
 * null.
 * @throws ResourceNotFoundError
 */
export async function getRegistrar(app: App, caller: Caller, id: string): Promise<RegistrarAnswer> {
  const { organizationId } = caller;
  const { domain } = await domains.get(app.store.db, organizationId, id);
  const kept = keptOf(app);
  const known = kept.get(domain);
  if (known && app.clock.now() < known.until) return { domain, ...known.found };
  const found = await inTurn(app, organizationId, domain, () => lookUp(app, domain));
  if (found.source !== 'none') kept.set(domain, { found, until: app.clock.now() + keptMs });
  return { domain, ...found };
}

async function lookUp(app: App, domain: string): Promise<Found> {
  const registered = registeredDomain(domain) ?? domain;
  const [registrar, nameServers] = await Promise.all([
    findRegistrar(app, registered),
    findNameServers(app, domain, registered),
  ]);
  const host = dnsHostOf(nameServers, registered);
  const dnsHost = nameServers.length === 0 ? null : { nameServers, ...nameOrNull(host) };
  const source = registrar ? 'rdap' : host ? 'name-servers' : 'none';
  return { registrar, dnsHost, source, checkedAt: new Date(app.clock.now()).toISOString() };
}

function nameOrNull(host: ReturnType<typeof dnsHostOf>) {
  return host ?? { name: null, recordsUrl: null };
}

async function findRegistrar(app: App, registered: string): Promise<Registration | null> {
  const server = serverOf(await rdapServers(app, patience), registered);
  if (server === null) return null;
  try {
    return await askRegistrar(app, server, registered, patience);
  } catch (error) {
    app.log.info({ domain: registered, problem: messageOf(error) }, 'RDAP names no registrar');
    return null;
  }
}

/**
 * Returns the sorted name servers of the closest zone, from `domain` up to `registered`; empty if
 * DNS names no server.
 */
async function findNameServers(app: App, domain: string, registered: string): Promise<string[]> {
  for (let name = domain; ; name = name.slice(name.indexOf('.') + 1)) {
    const found = await app.dns.resolveSoon(name, 'NS').catch(() => []);
    if (found.length > 0 || name === registered || !name.includes('.')) {
      return [...new Set(found.map((one) => foldName(String(one))))]
        .sort()
        .slice(0, mostNameServers);
    }
  }
}
