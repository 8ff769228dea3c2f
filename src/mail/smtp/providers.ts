// Provider rules: the lane of a set of MX hosts, and the limits of that lane. load-providers.ts reads them.
import type { Provider } from './providers-schema.ts';

/** Limits and TLS demand of a lane. */
export interface LaneRule {
  lane: string;
  connections: number;
  messagesPerConnection: number;
  /** Requires TLS with any certificate. Does not protect against a forged MX answer. */
  requireTls: boolean;
}

/** Plain data, fit for another thread. */
export interface ProviderRules {
  /** Rules in the order of their trial: the operator's before the shipped ones. */
  readonly all: readonly Provider[];
  readonly fallback: Provider;
}

export interface Providers {
  /** The rules in force. */
  readonly rules: ProviderRules;
  /** Returns the provider of these MX hosts, or the default rules if no provider matches all of them. */
  of(hosts: readonly string[]): Provider;
  /** Returns the rules of a lane by its name. */
  ofLane(name: string): Provider;
  /** Puts other rules in force. */
  replace(rules: ProviderRules): void;
}

/** Builds the look-up over these rules. */
export function createProviders(initial: ProviderRules): Providers {
  const belongs = (host: string, suffix: string) => host === suffix || host.endsWith(`.${suffix}`);
  let rules = initial;
  return {
    get rules() {
      return rules;
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

/** Returns the lane of a set of MX hosts, in any order, and the rules of its provider. */
export function laneOfHosts(
  providers: Providers,
  hosts: readonly { name: string }[],
): { rule: LaneRule; provider: Provider } {
  const names = hosts.map(({ name }) => name).sort();
  const provider = providers.of(names);
  const lane = provider === providers.rules.fallback ? `mx ${names.join(' ')}` : provider.name;
  const { connections, messagesPerConnection, requireTls } = provider;
  return { rule: { lane, connections, messagesPerConnection, requireTls }, provider };
}
