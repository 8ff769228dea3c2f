// Compares the settings of the daemons on one store. A limit or a route that differs on one daemon
// holds only for the mail of this daemon. The store holds digests of the settings, never a
// password.
import { hash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { valueAt } from '../../core/config/config.ts';
import { configKeys } from '../../core/config/keys.ts';
import { canonicalJson } from '../../platform/runtime/canonical-json.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { DaemonRow } from './queries.ts';

const shared = /^(delivery|health|plans|receipts|retention|storage|webhooks)(\.|$)/;
/**
 * Settings that may differ between machines. Two `delivery.providersFile` may have equal content.
 */
const ofOneDaemon = new Set([
  'delivery.hostname',
  'delivery.maxConnections',
  'delivery.providersFile',
]);
const sharedKeys = configKeys
  .map(({ path }) => path)
  .filter((path) => shared.test(path) && !ofOneDaemon.has(path));

/**
 * Returns JSON with the digest of each setting that the daemons of a store should share. The
 * digests need the root key, since a reader of the store could otherwise guess a short password.
 */
export function settingsOf(app: App): string {
  return JSON.stringify(
    Object.fromEntries(sharedKeys.map((path) => [path, digestOf(app, valueAt(app.config, path))])),
  );
}

function digestOf(app: App, value: unknown): string {
  const text = hash('sha256', canonicalJson(value), 'hex');
  // Uses the earliest root key, which stays the same during a rotation.
  return app.secrets.token('settings', text, 0).slice(text.length + 1);
}

/**
 * Returns the settings in which the daemon `other` differs. Skips settings that only one of the two
 * versions knows, and daemons with different root keys: their digests cannot be compared.
 */
export function differingSettings(own: DaemonRow, other: DaemonRow): string[] {
  if (own.settings === null || other.settings === null) return [];
  if (own.root_keys !== other.root_keys) return [];
  const theirs = fromJson<Record<string, string>>(other.settings);
  return Object.entries(fromJson<Record<string, string>>(own.settings))
    .filter(([path, digest]) => theirs[path] !== undefined && theirs[path] !== digest)
    .map(([path]) => path);
}
