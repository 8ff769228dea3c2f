// Keys that a running daemon takes from a changed configuration (SIGHUP). Their values are replaced
// in the configuration in use, which every part reads at the time of need. All remaining keys need
// a restart.
import { isDeepStrictEqual } from 'node:util';
import { type Config, setAt, valueAt } from './config.ts';
import { configKeys } from './keys.ts';

const reloadable: readonly string[] = [
  'delivery.allow',
  'delivery.providersFile',
  'log.level',
  'log.mail',
  'plans',
];

/** A file can be replaced by a new file. A listener learns of TLS itself only at the start. */
const tlsFiles = /^smtp\.(inbound|submission)\.tls\.(certFile|keyFile)$/;

/** Keys with a changed value. */
export interface ReloadedKeys {
  changed: string[];
  needRestart: string[];
}

function mayChange(path: string, before: unknown, after: unknown): boolean {
  if (tlsFiles.test(path)) return before !== null && after !== null;
  return reloadable.includes(path);
}

/**
 * Puts the reloadable values of `next` into `current`. Returns the changed keys, and the keys left
 * as they are.
 */
export function reloadConfig(current: Config, next: Config): ReloadedKeys {
  const keys: ReloadedKeys = { changed: [], needRestart: [] };
  for (const { path } of configKeys) {
    const [before, after] = [valueAt(current, path), valueAt(next, path)];
    if (isDeepStrictEqual(before, after)) continue;
    if (mayChange(path, before, after)) {
      setAt(current as unknown as Record<string, unknown>, path, after);
      keys.changed.push(path);
    } else keys.needRestart.push(path);
  }
  return keys;
}
