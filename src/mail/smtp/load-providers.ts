// Loads the rules for mailbox providers (providers.ts): shipped rules, and the operator's own file.
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../../platform/errors.ts';
import { readNamedFile } from '../../platform/runtime/held-files.ts';
import { loadYaml } from '../../platform/runtime/on-demand.ts';
import { decodeUtf8 } from '../../platform/runtime/utf8.ts';
import { createProviders, type Providers } from './providers.ts';
import { type Provider, parseProviders } from './providers-schema.ts';

const shipped = fileURLToPath(new URL('./providers.yaml', import.meta.url));

/**
 * Reads the shipped rules, and the entries of `file` unless it is null. An entry replaces the
 * shipped entry of the same name. The shipped entry `default` may open `connectionsPerDomain`
 * connections.
 * @throws ConfigError naming the file, the entry and the expected form
 */
export function loadProviders(file: string | null, connectionsPerDomain: number): Providers {
  const own = file === null ? [] : readProviders(file);
  const names = new Set(own.map(({ name }) => name));
  const ours = readProviders(shipped).filter(({ name }) => !names.has(name));
  const all = [...own, ...ours];
  const given = all.find(({ name }) => name === 'default');
  if (!given) throw new ConfigError('The provider rules lack an entry named default');
  const fallback = names.has('default') ? given : { ...given, connections: connectionsPerDomain };
  return createProviders({ all, fallback });
}

function readProviders(file: string): Provider[] {
  let content: unknown;
  try {
    const decoded = decodeUtf8(readNamedFile(file));
    if ('problem' in decoded) throw new Error(decoded.problem);
    content = loadYaml().parse(decoded.text);
  } catch (error) {
    throw new ConfigError(`delivery.providersFile: ${file}: ${(error as Error).message}`);
  }
  const parsed = parseProviders(content);
  if (Array.isArray(parsed)) return parsed;
  throw new ConfigError(`delivery.providersFile: ${file}: ${parsed.problem}`);
}
