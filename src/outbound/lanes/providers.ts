// Provider rules as data: which lane a set of MX hosts belongs to, and what that lane may do.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ConfigError } from '../../errors.ts';
import { type Provider, parseProviders } from './providers-schema.ts';

const shipped = new URL('./providers.yaml', import.meta.url);

/** The rules, the user's before ours. */
export interface Providers {
  /** The provider of these MX hosts; the default's rules where they belong to none. */
  of(hosts: readonly string[]): Provider;
  readonly fallback: Provider;
}

/**
 * Reads our rules and those of `file`, if any.
 * @throws ConfigError naming the file, the entry and what was expected.
 */
export function loadProviders(file: string | null, connectionsPerDomain: number): Providers {
  const own = file === null ? [] : readProviders(file);
  const names = new Set(own.map(({ name }) => name));
  const ours = readProviders(shipped).filter(({ name }) => !names.has(name));
  const all = [...own, ...ours];
  const given = all.find(({ name }) => name === 'default');
  if (!given) throw new ConfigError('The provider rules lack an entry named default');
  const fallback = names.has('default') ? given : { ...given, connections: connectionsPerDomain };
  const belongs = (host: string, suffix: string) => host === suffix || host.endsWith(`.${suffix}`);
  return {
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

function readProviders(file: string | URL): Provider[] {
  let content: unknown;
  try {
    content = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`delivery.providersFile: ${file}: ${(error as Error).message}`);
  }
  const parsed = parseProviders(content);
  if (Array.isArray(parsed)) return parsed;
  throw new ConfigError(`delivery.providersFile: ${file}: ${parsed.problem}`);
}
