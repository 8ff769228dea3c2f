// Chooses the route of a recipient: simulator, our own listener, capture, a relay, or the MX
// (`delivery.mode`, `delivery.routes`, `delivery.allow`). Simulator addresses have fixed outcomes
// in every mode, without a network. Pure: opens no connection, queries no DNS.
import { ConfigError } from '../../platform/errors.ts';
import { domainOf } from '../../platform/net/address.ts';
import { reachable } from '../../platform/net/network-address.ts';

/** Outcomes of simulator addresses. `deferred` is deferred once, then delivered. */
const simulatorOutcomes = ['delivered', 'bounced', 'deferred', 'complained', 'opened'] as const;
export type SimulatedOutcome = (typeof simulatorOutcomes)[number];

const domain = '@simulator.test';

/** Returns the outcome of a simulator address; null for any further address. */
export function simulatedOutcome(email: string): SimulatedOutcome | null {
  const folded = email.toLowerCase();
  if (!folded.endsWith(domain)) return null;
  const [name] = folded.slice(0, -domain.length).split('+');
  return simulatorOutcomes.find((outcome) => outcome === name) ?? null;
}

/** A smarthost, and the settings to connect to it. */
export interface RelayRoute {
  kind: 'relay';
  host: string;
  port: number;
  /** Whether TLS begins with the first byte. */
  secure: boolean;
  requireTls: boolean;
  username: string | null;
  password: string | null;
  /** Key types of the DKIM signatures; all types if it is absent. */
  dkim?: readonly DkimKeyType[];
}

export type DkimKeyType = 'rsa' | 'ed25519';

export interface DirectRoute {
  kind: 'direct';
  domain: string;
  port: number;
  allowPrivateAddresses: boolean;
  /** Whether TLS is required, with a certificate that proves the MX host. */
  requireTls: boolean;
}

export interface LocalRoute {
  kind: 'local';
  host: string;
  port: number;
}

/** Mail that is kept on this machine; `by` is the key of `config.yaml` that decided so. */
export interface CaptureRoute {
  kind: 'capture';
  by: CapturedBy;
}

export type CapturedBy = 'delivery.mode' | 'delivery.allow' | `delivery.routes.${number}`;

/** Routes that need a connection. */
export type NetworkRoute = RelayRoute | DirectRoute | LocalRoute;

export type Route = NetworkRoute | CaptureRoute | { kind: 'simulator'; outcome: SimulatedOutcome };

const organizationPrefix = 'org_';

type RelayAccess = Omit<RelayRoute, 'kind' | 'host' | 'dkim'> & {
  host: string | null;
  dkim?: readonly DkimKeyType[] | null | undefined;
};

/** The part of `config.delivery` that decides the route. */
export interface RouteConfig {
  mode: 'capture' | 'relay' | 'direct';
  relay: RelayAccess;
  direct: { port: number; allowPrivateAddresses: boolean };
  routes: readonly RouteRule[];
  allow: readonly string[];
}

/**
 * A rule for routes. `match` is a recipient domain, `*.domain` (all subdomains) or `*`, in lower
 * case. `from` limits the rule to senders: a domain in the same forms, an address, or the id of an
 * organization; null for all senders.
 */
interface RulePattern {
  /** Recipient domains; null for all recipients. */
  match?: string | null;
  from?: string | null;
}

type RouteRule =
  | (RulePattern & { via: 'capture' })
  | (RulePattern & { via: 'direct'; requireTls?: boolean })
  | (RulePattern & { via: 'relay' } & RelayAccess);

/** The sender of a message, as far as routes depend on it. */
export interface RouteSender {
  organizationId: string;
  /** Address in From. */
  email: string;
}

/** Chooses the route of a recipient. `isLocal`: the address has a mailbox here. */
export type ChooseRoute = (email: string, isLocal: boolean, sender: RouteSender) => Route;

/** Part of a route that does not depend on the recipient. */
type Via =
  | { via: 'capture'; by: CapturedBy }
  | { via: 'direct'; requireTls: boolean }
  | { via: 'relay'; route: RelayRoute };

/** Tells whether a domain matches `*`, `*.domain` or the domain itself. */
export function matchesDomain(pattern: string, domain: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? domain.endsWith(pattern.slice(1)) : domain === pattern;
}

function matchesRecipient(pattern: string, email: string, domain: string): boolean {
  return pattern.includes('@') ? pattern === email : matchesDomain(pattern, domain);
}

function matchesSender(pattern: string | null, { organizationId, email }: RouteSender): boolean {
  if (pattern === null) return true;
  if (pattern.startsWith(organizationPrefix)) return pattern === organizationId;
  const folded = email.toLowerCase();
  return matchesRecipient(pattern, folded, domainOf(folded));
}

/** Tells whether any route depends on the whole address of From instead of the domain. */
export function dependsOnAddress({ routes }: Pick<RouteConfig, 'routes'>): boolean {
  return routes.some(({ from }) => from?.includes('@'));
}

function relayRoute(access: RelayAccess, key: string, dkim = access.dkim ?? null): RelayRoute {
  const { host, port, secure, requireTls, username, password } = access;
  if (host === null) throw new ConfigError(`${key}.host: expected the host name of a relay`);
  const route: RelayRoute = { kind: 'relay', host, port, secure, requireTls, username, password };
  return dkim === null ? route : { ...route, dkim };
}

function viaOf(rule: RouteRule, index: number, relay: RelayAccess): Via {
  if (rule.via === 'capture') return { via: 'capture', by: `delivery.routes.${index}` };
  if (rule.via === 'direct') return { via: 'direct', requireTls: rule.requireTls ?? false };
  return rule.host === null
    ? { via: 'relay', route: relayRoute(relay, 'delivery.relay', rule.dkim ?? relay.dkim) }
    : { via: 'relay', route: relayRoute(rule, `delivery.routes.${index}`) };
}

const notAllowed: Via = { via: 'capture', by: 'delivery.allow' };

function modeVia(config: RouteConfig): Via {
  if (config.mode === 'capture') return { via: 'capture', by: 'delivery.mode' };
  if (config.mode === 'direct') return { via: 'direct', requireTls: false };
  return { via: 'relay', route: relayRoute(config.relay, 'delivery.relay') };
}

/**
 * Creates the function that chooses routes. It takes addresses in the form of parseAddress
 * (src/platform/net/address.ts).
 *
 * Order of precedence: a simulator address, then `allow` (recipients that it lacks are captured),
 * then the first matching route, then the mode. Two kinds of mail go to our own `listener`:
 * captured mail for a local mailbox, and all mail that would leave the machine for `hostedDomain`,
 * which needs no DNS.
 * @throws ConfigError if a relay lacks a host
 */
export function createRouter(
  config: RouteConfig,
  listener: { host: string; port: number },
  hostedDomain: string,
): ChooseRoute {
  const defaultWay = modeVia(config);
  const rules = config.routes.map((rule, index) => ({
    match: rule.match ?? '*',
    from: rule.from ?? null,
    way: viaOf(rule, index, config.relay),
  }));
  const localRoute: LocalRoute = {
    kind: 'local',
    host: reachable(listener.host),
    port: listener.port,
  };

  const isAllowed = (email: string, domain: string) =>
    config.allow.length === 0 ||
    config.allow.some((pattern) => matchesRecipient(pattern, email, domain));

  return (email, isLocal, sender) => {
    const outcome = simulatedOutcome(email);
    if (outcome) return { kind: 'simulator', outcome };
    const folded = email.toLowerCase();
    const domain = domainOf(folded);
    const rule = rules.find(
      ({ match, from }) => matchesDomain(match, domain) && matchesSender(from, sender),
    );
    const way = isAllowed(folded, domain) ? (rule?.way ?? defaultWay) : notAllowed;
    if (way.via !== 'capture' && domain === hostedDomain) return localRoute;
    if (way.via === 'relay') return way.route;
    if (way.via === 'direct') {
      const { port, allowPrivateAddresses } = config.direct;
      return { kind: 'direct', domain, port, allowPrivateAddresses, requireTls: way.requireTls };
    }
    return isLocal ? localRoute : { kind: 'capture', by: way.by };
  };
}

/** Returns a key: recipients of a message with equal keys can share an SMTP transaction. */
export function routeKey(route: Route): string {
  if (route.kind === 'relay') return `relay ${route.host}:${route.port} ${route.username ?? ''}`;
  if (route.kind === 'capture') return `capture ${route.by}`;
  return route.kind === 'direct' ? `direct ${route.domain}` : route.kind;
}
