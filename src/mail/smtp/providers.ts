// Provider rules: the lane of a set of MX hosts (the deliveries that share limits), and the limits
// of the lane. load-providers.ts loads the rules.
import { type Portion, partOf, wholePortion } from '../../platform/runtime/fairness/portion.ts';
import type { Provider } from './providers-schema.ts';

/** Limits and TLS requirement of a lane, for a single daemon. */
export interface LaneRule {
  lane: string;
  connections: number;
  messagesPerConnection: number;
  /** Requires TLS, with any certificate. This does not protect against a forged MX answer. */
  requireTls: boolean;
}

/** Rules as plain data, which can be sent to a thread. */
export interface ProviderRules {
  /** Rules in the order of matching: the operator's rules before the shipped rules. */
  readonly all: readonly Provider[];
  readonly fallback: Provider;
}

export interface Providers {
  /** Rules in force. */
  readonly rules: ProviderRules;
  /** Returns the provider of these MX hosts; the default rules if no provider matches all hosts. */
  of(hosts: readonly string[]): Provider;
  /** Returns the rules of a lane by name; the default rules for an unknown name. */
  ofLane(name: string): Provider;
  /** Puts new rules in force. */
  replace(rules: ProviderRules): void;
  /** Part of the limits that this daemon may use: the whole, until `divide` sets a part. */
  readonly portion: Portion;
  divide(portion: Portion): void;
}

/**
 * Returns the rules of a lane with this daemon's part of the connections and of the rate; both are
 * 0 if the part is smaller than a connection. For a relay, for our own listener and for captured
 * mail, each daemon has the whole.
 */
export function dividedRules(rules: Provider, lane: string, portion: Portion): Provider {
  if (!isShared(lane)) return rules;
  const connections = partOf(rules.connections, lane, portion);
  if (connections === rules.connections) return rules;
  const perMinute = rules.perMinute && (rules.perMinute * connections) / rules.connections;
  return { ...rules, connections, perMinute };
}

/** Tells whether a lane leads to servers that count the connections of all daemons. */
function isShared(lane: string): boolean {
  return !/^(?:relay |local$|capture )/.test(lane);
}

/**
 * Returns the most connections of this daemon in the lane `lane`; undefined for destinations that
 * are not lanes of mail hosts.
 */
export function connectionsOf(providers: Providers, lane: string): number | undefined {
  const rules = lane.startsWith('mx ')
    ? providers.rules.fallback
    : providers.rules.all.find(({ name }) => name === lane);
  return rules && dividedRules(rules, lane, providers.portion).connections;
}

/** Creates the look-up of lanes and limits by these rules. */
export function createProviders(initial: ProviderRules): Providers {
  const belongs = (host: string, suffix: string) => host === suffix || host.endsWith(`.${suffix}`);
  let rules = initial;
  let portion = wholePortion;
  return {
    get rules() {
      return rules;
    },
    get portion() {
      return portion;
    },
    divide(other) {
      portion = other;
    },
    of(hosts) {
      const found = rules.all.find(
        ({ mx }) =>
          hosts.length > 0 &&
          hosts.every((host) => mx.some((suffix) => belongs(host.toLowerCase(), suffix))),
      );
      return found ?? rules.fallback;
    },
    ofLane: (name) => rules.all.find((provider) => provider.name === name) ?? rules.fallback,
    replace(others) {
      rules = others;
    },
  };
}

/** Returns the lane of MX hosts, given in any order, with the rules of their provider. */
export function laneOfHosts(
  providers: Providers,
  hosts: readonly { name: string }[],
): { rule: LaneRule; provider: Provider } {
  const names = hosts.map(({ name }) => name).sort();
  const provider = providers.of(names);
  const lane = provider === providers.rules.fallback ? `mx ${names.join(' ')}` : provider.name;
  const { connections, messagesPerConnection, requireTls } = dividedRules(
    provider,
    lane,
    providers.portion,
  );
  return { rule: { lane, connections, messagesPerConnection, requireTls }, provider };
}
