// How a route is travelled: which hosts in which order, at which addresses, with which TLS and
// credentials. Decides; the connections are opened by transport.ts.
import type { Dns } from '../dns.ts';
import { isPublicAddress } from '../network-address.ts';
import type { Random } from '../random.ts';
import {
  findAddresses,
  findMailHosts,
  findNamedAddresses,
  type HostAddresses,
  type MailHost,
  type Verdict,
} from './destination.ts';
import type { DirectRoute, LocalRoute, NetworkRoute, RelayRoute } from './route.ts';
import type { Credentials } from './smtp-auth.ts';
import type { TlsMode } from './smtp-open.ts';

/** The security of a connection to one address. */
export interface Protection {
  tls: TlsMode;
  verifyCertificate: boolean;
  allowClearAuth: boolean;
  auth?: Credentials;
}

export interface Way {
  /** Connections with the same lane share the limit per destination (pool.ts). */
  lane: string;
  port: number;
  hosts: readonly MailHost[];
  /** A 530 or 535 means that our credentials are wrong, not that the recipient is. */
  isRelay: boolean;
  addressesOf(host: string): Promise<HostAddresses>;
  protectionAt(address: string): Protection;
}

interface Sources {
  dns: Dns;
  random: Random;
}

/** The way of a route, or the verdict where the DNS says that there is none. */
export async function findWay(route: NetworkRoute, sources: Sources): Promise<Way | Verdict> {
  if (route.kind === 'direct') return directWay(route, sources);
  return route.kind === 'relay' ? relayWay(route, sources) : localWay(route, sources);
}

async function directWay(route: DirectRoute, { dns, random }: Sources): Promise<Way | Verdict> {
  const found = await findMailHosts(dns, random, route.domain);
  if (found.verdict) return found.verdict;
  // Domains with the same MX hosts are one destination, whatever their names.
  const names = found.hosts.map(({ name }) => name).sort();
  return {
    lane: `mx ${names.join(' ')} ${route.port}`,
    port: route.port,
    hosts: found.hosts,
    isRelay: false,
    addressesOf: (host) => findAddresses(dns, random, host, route.allowPrivateAddresses),
    protectionAt: () => ({ tls: 'opportunistic', verifyCertificate: false, allowClearAuth: false }),
  };
}

function relayWay(route: RelayRoute, { dns, random }: Sources): Way {
  const { host, port, username, password } = route;
  const auth = username !== null && password !== null ? { username, password } : null;
  return {
    lane: `relay ${host}:${port} ${route.secure} ${route.requireTls} ${username ?? ''}`,
    port,
    hosts: [{ name: host, preference: 0 }],
    isRelay: true,
    addressesOf: () => findNamedAddresses(dns, random, host),
    protectionAt: (address) => protectRelay(route, auth, address),
  };
}

/**
 * Across the Internet credentials go over TLS with a proven certificate only, and TLS that the
 * configuration demands is proven too. On our own network (loopback, private addresses), where
 * certificates are self-signed more often than not, neither is asked for.
 */
function protectRelay(route: RelayRoute, auth: Credentials | null, address: string): Protection {
  const isPublic = isPublicAddress(address);
  const mustEncrypt = route.requireTls || (isPublic && auth !== null);
  const encrypted: TlsMode = mustEncrypt ? 'required' : 'opportunistic';
  return {
    tls: route.secure ? 'implicit' : encrypted,
    verifyCertificate: isPublic && (route.secure || mustEncrypt),
    allowClearAuth: !isPublic && !route.requireTls,
    ...(auth && { auth }),
  };
}

function localWay({ host, port }: LocalRoute, { dns, random }: Sources): Way {
  return {
    lane: `local ${host}:${port}`,
    port,
    hosts: [{ name: host, preference: 0 }],
    isRelay: false,
    addressesOf: () => findNamedAddresses(dns, random, host),
    protectionAt: () => ({ tls: 'none', verifyCertificate: false, allowClearAuth: false }),
  };
}
