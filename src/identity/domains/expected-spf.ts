// SPF mechanisms that the records of a domain need: the mechanism of this host, or the mechanisms
// of the smarthosts that carry mail of the domain (`delivery.relay.spf`, `delivery.routes[].spf`).
// Pure.
import { matchesDomain } from '../../mail/smtp/route.ts';
import { domainOf } from '../../platform/net/address.ts';

/** Part of `config.delivery` that decides which servers deliver the mail of a domain. */
export interface SpfConfig {
  mode: 'capture' | 'relay' | 'direct';
  hostname: string;
  relay: { host: string | null; spf: string | null };
  routes: readonly SpfRoute[];
}

interface SpfRoute {
  via: 'capture' | 'relay' | 'direct';
  match: string | null;
  from: string | null;
  host?: string | null;
  spf?: string | undefined;
}

export interface ExpectedSpf {
  /** Mechanisms that the records must name, such as `a:mail.example.com`. */
  mechanisms: readonly string[];
  /** A smarthost without a known mechanism; null if all are known. */
  unknown: UnknownSmarthost | null;
}

export interface UnknownSmarthost {
  host: string;
  /** Key of the configuration that should name the mechanism. */
  key: string;
}

/** Part of a domain's mail to which the setting `from` of a route applies. */
type Share = 'all' | 'some' | 'none';

interface Sender {
  domain: string;
  organization_id: string;
}

function shareOf(from: string | null, { domain, organization_id }: Sender): Share {
  if (from === null || from === organization_id) return 'all';
  if (from.includes('@')) return domainOf(from) === domain ? 'some' : 'none';
  return matchesDomain(from, domain) ? 'all' : 'none';
}

const isForAll = ({ match }: SpfRoute) => match === null || match === '*';

/** Mechanisms of a route or of the default mode. `unknown`: a smarthost without a mechanism. */
interface WaySpf {
  mechanisms: readonly string[];
  unknown?: UnknownSmarthost;
}

const split = (spf: string): readonly string[] => spf.trim().split(/\s+/);

function defaultSpf({ mode, hostname, relay }: SpfConfig): WaySpf {
  if (mode === 'direct') return { mechanisms: [`a:${hostname}`] };
  if (mode === 'capture') return { mechanisms: [] };
  if (relay.spf !== null) return { mechanisms: split(relay.spf) };
  return { mechanisms: [], unknown: { host: relay.host ?? '', key: 'delivery.relay.spf' } };
}

function routeSpf(route: SpfRoute, index: number, { hostname, relay }: SpfConfig): WaySpf {
  if (route.via === 'capture') return { mechanisms: [] };
  if (route.via === 'direct') return { mechanisms: [`a:${hostname}`] };
  const isOwn = (route.host ?? null) !== null;
  const spf = route.spf ?? (isOwn ? null : relay.spf);
  if (spf !== null) return { mechanisms: split(spf) };
  // A smarthost for some recipients is usually in their network: behind it nobody checks SPF.
  if (!isForAll(route)) return { mechanisms: [] };
  const key = isOwn ? `delivery.routes.${index}.spf` : 'delivery.relay.spf';
  return { mechanisms: [], unknown: { host: route.host ?? relay.host ?? '', key } };
}

/** Returns smarthosts that have no configured mechanism and deliver to all recipients. */
export function unknownSmarthosts(config: SpfConfig): UnknownSmarthost[] {
  const ways = [
    ...config.routes.map((route, at) => routeSpf(route, at, config)),
    defaultSpf(config),
  ];
  const unknown = ways.flatMap((way) => way.unknown ?? []);
  return [...new Map(unknown.map((smarthost) => [smarthost.key, smarthost])).values()];
}

/** Returns the mechanisms that the SPF records of a domain need. */
export function expectedSpf(config: SpfConfig, sender: Sender): ExpectedSpf {
  const ways: WaySpf[] = [];
  let isDecided = false;
  for (const [index, route] of config.routes.entries()) {
    const share = shareOf(route.from, sender);
    if (share === 'none') continue;
    ways.push(routeSpf(route, index, config));
    // The first matching route wins: no mail of the domain reaches the routes after it.
    isDecided = share === 'all' && isForAll(route);
    if (isDecided) break;
  }
  if (!isDecided) ways.push(defaultSpf(config));
  const unknown = ways.find((way) => way.unknown)?.unknown ?? null;
  const mechanisms = [...new Set(ways.flatMap((way) => way.mechanisms))];
  // If no mail leaves this machine, shows the records for a later mode `direct`.
  const isCaptured = mechanisms.length === 0 && unknown === null;
  return { mechanisms: isCaptured ? [`a:${config.hostname}`] : mechanisms, unknown };
}

/** Returns the index of a mechanism among the terms of a record; -1 without it. */
export function placeOf(mechanism: string, terms: readonly string[]): number {
  const wanted = mechanism.toLowerCase();
  // Compares lengths first, because a hostile record can have 30,000 terms.
  return terms.findIndex((term) => {
    const bare = term.startsWith('+') ? term.slice(1) : term;
    return bare.length === wanted.length && bare.toLowerCase() === wanted;
  });
}

/** Returns the expected mechanisms that a record does not name. */
export function lackingIn(record: string, { mechanisms }: ExpectedSpf): string[] {
  const terms = record.trim().split(/\s+/);
  return mechanisms.filter((mechanism) => placeOf(mechanism, terms) < 0);
}

/** Returns the sentence about a record that lacks mechanisms. */
export function lackingSentence(lacking: readonly string[]): string {
  return (
    `the record does not name ${lacking.join(' ')}; it is enough only if it covers the same ` +
    'addresses in another way'
  );
}

/** Returns the sentence about a smarthost without a known mechanism, and the next step. */
export function unknownSentence({ host, key }: UnknownSmarthost) {
  return {
    error: `mail leaves by the smarthost ${host}, and ${key} does not name the SPF mechanism of that smarthost`,
    remedy:
      `Set ${key} in config.yaml to the mechanism that its provider documents, such as ` +
      'include:spf.example.net, and publish the record that is shown then.',
  };
}
