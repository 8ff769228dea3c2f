// The way of a route: hosts in order, addresses, credentials, lane, and the security that a host
// must offer. The security follows from DANE (RFC 7672), else MTA-STS (RFC 8461), else the route or
// provider, else it is opportunistic TLS. Only decides: transport.ts opens connections, dane.ts
// looks up records, mta-sts.ts policies.
import { createHash } from 'node:crypto';
import type { Dns } from '../../platform/net/dns.ts';
import { isPublicAddress } from '../../platform/net/network-address.ts';
import type { Random } from '../../platform/runtime/random.ts';
import { type DaneReference, findDane } from './dane.ts';
import {
  findAddresses,
  findMailHosts,
  findNamedAddresses,
  type HostAddresses,
  type MailHost,
  type Verdict,
  verdict,
} from './destination.ts';
import type { MtaSts, StsPolicy } from './mta-sts.ts';
import type { TlsPolicy } from './outcome.ts';
import type { DestinationLimits } from './pool-request.ts';
import type { LaneRule } from './providers.ts';
import type { DirectRoute, LocalRoute, NetworkRoute, RelayRoute } from './route.ts';
import type { Credentials, OpenOptions, TlsMode } from './session/open.ts';

/** Security of sessions with a host. Sessions with equal `label` may be shared. */
export interface HostSecurity {
  tls: 'opportunistic' | 'required';
  verifyCertificate: boolean;
  dane: DaneReference | null;
  label: string;
  /** Policy of the domain that requires a proof of the host's name: DANE or MTA-STS; else null. */
  policy: TlsPolicy | null;
  /** Findings that do not prevent delivery, for the attempt history. */
  notes: readonly string[];
}

type SecurityAnswer = { security: HostSecurity; verdict: null } | { verdict: Verdict };

/** Requirements for every host of the way. */
interface WaySecurity {
  domain: string;
  port: number;
  /** True if the MX answer with the hosts was authenticated (AD). */
  isMxAuthenticated: boolean;
  sts: StsPolicy | null;
  /** Required TLS. `proven`: with a certificate for the host. `encrypted`: with any certificate. */
  demand: 'proven' | 'encrypted' | 'none';
}

/**
 * Returns the security that `host` must have, or the verdict that it must not be used. If the host
 * has usable TLSA records, only DANE decides, so that an MTA-STS policy cannot weaken it (RFC 8461
 * 2).
 */
async function securityOf(dns: Dns, host: string, way: WaySecurity): Promise<SecurityAnswer> {
  const dane = await daneOf(dns, host, way);
  if (dane.kind === 'failed') return refuse(`the TLSA records of ${host}: ${dane.why}`);
  if (dane.kind === 'usable') return allow(byDane(dane.reference));
  const { sts, domain, demand } = way;
  const isCovered = sts === null || sts.mode === 'none' || sts.covers(host);
  if (sts?.mode === 'enforce' && !isCovered) {
    return refuse(`the MTA-STS policy of ${domain} (enforce) does not list the MX ${host}`);
  }
  const notes =
    sts?.mode === 'testing' && !isCovered
      ? [`MTA-STS: the policy of ${domain} (testing) does not list the MX ${host}`]
      : [];
  const mustProve = demand === 'proven' || sts?.mode === 'enforce';
  const mustEncrypt = mustProve || demand === 'encrypted' || dane.kind === 'unusable';
  return allow({
    tls: mustEncrypt ? 'required' : 'opportunistic',
    verifyCertificate: mustProve,
    dane: null,
    policy: sts?.mode === 'enforce' ? 'mta-sts' : null,
    label: mustProve ? 'proven' : mustEncrypt ? 'encrypted' : '',
    notes,
  });
}

function allow(security: HostSecurity): SecurityAnswer {
  return { security, verdict: null };
}

function refuse(text: string): SecurityAnswer {
  return verdict('deferred', 'policy', '4.7.5', text);
}

/** Looks up TLSA records if DNSSEC authenticated the MX and the address answers (RFC 7672 2.1). */
async function daneOf(dns: Dns, host: string, { domain, port, isMxAuthenticated }: WaySecurity) {
  if (!isMxAuthenticated) return { kind: 'none' } as const;
  // A host without an address is skipped later: the look-up of addresses repeats this cached
  // answer.
  const isSecure = await dns.addresses(host).then(
    ({ authenticated }) => authenticated,
    () => false,
  );
  return isSecure ? findDane(dns, { host, port, domain }) : ({ kind: 'none' } as const);
}

function byDane(dane: DaneReference): HostSecurity {
  const hash = createHash('sha256').update(dane.names.join(' '));
  for (const { usage, selector, matchingType, certificate } of dane.records) {
    hash.update(` ${usage} ${selector} ${matchingType} `).update(certificate);
  }
  const label = `dane ${hash.digest('base64url')}`;
  return { tls: 'required', verifyCertificate: false, dane, policy: 'dane', label, notes: [] };
}

/** Security of a connection to an address. */
type Protection = Pick<
  OpenOptions,
  'tls' | 'verifyCertificate' | 'dane' | 'allowClearAuth' | 'auth'
>;

/** Assigns mail hosts to lanes with limits. */
export interface LaneRules {
  /** Returns the rule of a set of mail hosts; null without a rule. */
  ruleFor(hosts: readonly MailHost[]): LaneRule | null;
  /** Called when the mail hosts of a recipient domain were found. */
  learn(domain: string, lane: string, hosts: readonly MailHost[]): void;
}

export interface Way {
  /** Lane of the connections; connections of the same lane share its limits (pool.ts). */
  lane: string;
  limits: DestinationLimits;
  port: number;
  hosts: readonly MailHost[];
  /** True for a relay, where 530 and 535 mean that our credentials are wrong, not the recipient. */
  isRelay: boolean;
  /** Whether to send REQUIRETLS with the message if the server offers it. */
  requireTls: boolean;
  securityOf(host: string): Promise<SecurityAnswer>;
  addressesOf(host: string): Promise<HostAddresses>;
  protectionAt(address: string, security: HostSecurity): Protection;
}

interface WaySources {
  dns: Dns;
  random: Random;
  sts: MtaSts;
  lanes: LaneRules | undefined;
  /** Limits that apply without a rule. */
  limits: DestinationLimits;
}

/**
 * Security for a server that the configuration names. No host name has requirements, because
 * `protectionAt` decides by address.
 */
const noDemands: SecurityAnswer = {
  security: {
    tls: 'opportunistic',
    verifyCertificate: false,
    dane: null,
    policy: null,
    label: '',
    notes: [],
  },
  verdict: null,
};

/**
 * Returns the way of a route: hosts, limits and security. Returns a verdict if the DNS yields no
 * hosts.
 */
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

/** Returns the name of a lane. All domains with the same MX hosts get the same lane. */
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
 * Returns the protection of a connection to a relay. Across the Internet, credentials, implicit TLS
 * and required TLS need a proven certificate. On our own network (loopback, private addresses) they
 * do not, because most certificates there are self-signed.
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
