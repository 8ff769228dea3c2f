// How a route is travelled: which hosts in which order, at which addresses, with which TLS and
// credentials, and in which lane. Decides; the connections are opened by transport.ts.
import type { Dns } from '../net/dns.ts';
import { isPublicAddress } from '../net/network-address.ts';
import type { Random } from '../runtime/random.ts';
import type { Credentials } from './auth.ts';
import {
  findAddresses,
  findMailHosts,
  findNamedAddresses,
  type HostAddresses,
  type MailHost,
  type Verdict,
} from './destination.ts';
import type { MtaSts } from './mta-sts.ts';
import type { OpenOptions, TlsMode } from './open.ts';
import type { DestinationLimits } from './pool-request.ts';
import type { LaneRule } from './providers.ts';
import type { DirectRoute, LocalRoute, NetworkRoute, RelayRoute } from './route.ts';
import { type HostSecurity, type SecurityAnswer, securityOf } from './tls-policy.ts';

/** The security of a connection to one address. */
export type Protection = Pick<
  OpenOptions,
  'tls' | 'verifyCertificate' | 'dane' | 'allowClearAuth' | 'auth'
>;

/** Which destinations are one, and how much each may take. */
export interface LaneRules {
  /** The rule for a set of mail hosts; null where there is none for them. */
  ruleFor(hosts: readonly MailHost[]): LaneRule | null;
  /** Told each time the way of a recipient domain was found. */
  learn(domain: string, lane: string, hosts: readonly MailHost[]): void;
}

export interface Way {
  /** Connections with the same lane share its limits (smtp/pool.ts). */
  lane: string;
  limits: DestinationLimits;
  port: number;
  hosts: readonly MailHost[];
  /** A 530 or 535 means that our credentials are wrong, not that the recipient is. */
  isRelay: boolean;
  /** REQUIRETLS goes with the message, where the server knows it. */
  requireTls: boolean;
  securityOf(host: string): Promise<SecurityAnswer>;
  addressesOf(host: string): Promise<HostAddresses>;
  protectionAt(address: string, security: HostSecurity): Protection;
}

export interface WaySources {
  dns: Dns;
  random: Random;
  sts: MtaSts;
  lanes: LaneRules | undefined;
  /** Where no rule says otherwise. */
  limits: DestinationLimits;
}

/** Where the configuration names the server, what it must show depends on its address alone. */
const noDemands: SecurityAnswer = {
  security: { tls: 'opportunistic', verifyCertificate: false, dane: null, label: '', notes: [] },
  verdict: null,
};

/** The way of a route, or the verdict where the DNS says that there is none. */
export async function findWay(route: NetworkRoute, sources: WaySources): Promise<Way | Verdict> {
  if (route.kind === 'direct') return directWay(route, sources);
  return route.kind === 'relay' ? relayWay(route, sources) : localWay(route, sources);
}

async function directWay(route: DirectRoute, sources: WaySources): Promise<Way | Verdict> {
  const { dns, random, lanes } = sources;
  const { domain, port, allowPrivateAddresses, requireTls } = route;
  const found = await findMailHosts(dns, random, domain);
  if (found.verdict) return found.verdict;
  const { hosts, isAuthenticated } = found;
  const rule = lanes?.ruleFor(hosts) ?? null;
  const lane = rule?.lane ?? laneOf(hosts, port);
  lanes?.learn(domain, lane, hosts);
  const sts = await sources.sts.policyOf(domain, allowPrivateAddresses);
  const demand = requireTls ? 'proven' : rule?.requireTls ? 'encrypted' : 'none';
  const security = { domain, port, isMxAuthenticated: isAuthenticated, sts, demand } as const;
  return {
    lane,
    limits: rule ?? sources.limits,
    port,
    hosts,
    isRelay: false,
    requireTls,
    securityOf: (host) => securityOf(dns, host, security),
    addressesOf: (host) => findAddresses(dns, random, host, allowPrivateAddresses),
    protectionAt: (_, { tls, verifyCertificate, dane }) => ({
      tls,
      verifyCertificate,
      allowClearAuth: false,
      ...(dane && { dane }),
    }),
  };
}

/** Domains with the same MX hosts are one destination, whatever their names. */
function laneOf(hosts: readonly MailHost[], port: number): string {
  const names = hosts.map(({ name }) => name).sort();
  return `mx ${names.join(' ')} ${port}`;
}

function relayWay(route: RelayRoute, { dns, random, limits }: WaySources): Way {
  const { host, port, username, password } = route;
  const auth = username !== null && password !== null ? { username, password } : null;
  return {
    lane: `relay ${host}:${port} ${route.secure} ${route.requireTls} ${username ?? ''}`,
    limits,
    port,
    hosts: [{ name: host, preference: 0 }],
    isRelay: true,
    requireTls: route.requireTls,
    securityOf: async () => noDemands,
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

function localWay({ host, port }: LocalRoute, { dns, random, limits }: WaySources): Way {
  return {
    lane: `local ${host}:${port}`,
    limits,
    port,
    hosts: [{ name: host, preference: 0 }],
    isRelay: false,
    requireTls: false,
    securityOf: async () => noDemands,
    addressesOf: () => findNamedAddresses(dns, random, host),
    protectionAt: () => ({ tls: 'none', verifyCertificate: false, allowClearAuth: false }),
  };
}
