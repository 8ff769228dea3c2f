// Keys that a running daemon takes from a changed configuration (SIGHUP). The values are replaced
// in place, and every part reads them when it needs them. All remaining keys need a restart.
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

/** Keys of certificate files. A new path takes effect; turning TLS on or off needs a restart. */
const tlsFiles = /^smtp\.(inbound|submission)\.tls\.(certFile|keyFile)$/;

/** Keys with a changed value: `changed` took effect, `needRestart` did not. */
export interface ReloadedKeys {
  changed: string[];
  needRestart: string[];
}

function mayChange(path: string, before: unknown, after: unknown): boolean {
  if (tlsFiles.test(path)) return before !== null && after !== null;
  return reloadable.includes(path);
}

/**
 * Copies the reloadable values of `next` into `current`. Returns the changed keys that took effect,
 * and the changed keys that need a restart.
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
