// Provider rules: which lane a set of MX hosts belongs to, and what that lane may do. They are read by
// load-providers.ts.
import type { Provider } from './providers-schema.ts';

/** What a lane allows the transport. */
export interface LaneRule {
  lane: string;
  connections: number;
  messagesPerConnection: number;
  /** Only over TLS, whoever's certificate: who can forge the MX answer is not caught by it. */
  requireTls: boolean;
}

/** Plain data, fit for another thread. */
export interface ProviderRules {
  /** In the order in which they are tried: the user's before ours. */
  readonly all: readonly Provider[];
  readonly fallback: Provider;
}

export interface Providers extends ProviderRules {
  /** The provider of these MX hosts; the default's rules where they belong to none. */
  of(hosts: readonly string[]): Provider;
}

/** What the rules say of a set of hosts. */
export function createProviders({ all, fallback }: ProviderRules): Providers {
  const belongs = (host: string, suffix: string) => host === suffix || host.endsWith(`.${suffix}`);
  return {
    all,
    fallback,
    of(hosts) {
      const found = all.find(
        ({ mx }) =>
          hosts.length > 0 &&
          hosts.every((host) => mx.some((suffix) => belongs(host.toLowerCase(), suffix))),
      );
      return found ?? fallback;
    },
  };
}

/** The lane of a set of MX hosts, in whatever order, and the rules of its provider. */
export function laneOfHosts(
  providers: Providers,
  hosts: readonly { name: string }[],
): { rule: LaneRule; provider: Provider } {
  const names = hosts.map(({ name }) => name).sort();
  const provider = providers.of(names);
  const lane = provider === providers.fallback ? `mx ${names.join(' ')}` : provider.name;
  const { connections, messagesPerConnection, requireTls } = provider;
  return { rule: { lane, connections, messagesPerConnection, requireTls }, provider };
}
