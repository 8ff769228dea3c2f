// The DKIM keys that sign the mail of a domain. Every message needs them, so keys are decrypted and
// parsed only once: parsing a PEM costs more than an Ed25519 signature. The rows are read again
// each second, and after every change by this process.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { selectRootKeys } from '../../core/root-keys/queries.ts';
import { foreignKey, settleRootKeys } from '../../core/root-keys/root-keys.ts';
import type { DkimAlgorithm, SigningKey } from '../../mail/mime/dkim/dkim-key.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import { findAnyKey, type SigningKeyRow, selectNamedKeys, selectSigningKeys } from './queries.ts';

const mostDomains = 5_000;
const rereadMs = 1_000;

interface KnownKeys {
  readAt: number;
  keys: SigningKey[];
}

/** Returns the AES-GCM context that binds an encrypted private key to the row of the key. */
export function domainKeyContext(id: string): string {
  return `domainKey:${id}`;
}

class SigningKeys {
  readonly #app: App;
  readonly #known = recentlyUsed<KnownKeys>(mostDomains);
  readonly #parsed = recentlyUsed<KeyObject>(2 * mostDomains);

  constructor(app: App) {
    this.#app = app;
  }

  async of(domainId: string): Promise<SigningKey[]> {
    const known = this.#known.get(domainId);
    const now = this.#app.clock.now();
    if (known && Math.abs(now - known.readAt) < rereadMs) return known.keys;
    const rows = await selectSigningKeys(this.#app.store.db, domainId);
    const keys = newestOfEach(rows).map((row) => this.#keyOf(row));
    this.#known.set(domainId, { readAt: now, keys });
    return keys;
  }

  async named(domainId: string, selectors: readonly string[]): Promise<SigningKey[]> {
    if (selectors.length === 0) return [];
    const rows = await selectNamedKeys(this.#app.store.db, domainId, selectors);
    const bySelector = new Map(rows.map((row) => [row.selector, row]));
    return selectors.flatMap((selector) => {
      const row = bySelector.get(selector);
      return row ? [this.#keyOf(row)] : [];
    });
  }

  forget(domainId: string): void {
    this.#known.delete(domainId);
  }

  #keyOf(row: SigningKeyRow): SigningKey {
    const { domain, selector, algorithm } = row;
    return { domain, selector, algorithm, privateKey: this.#parse(row) };
  }

  #parse({ id, private_key }: SigningKeyRow): KeyObject {
    let key = this.#parsed.get(id);
    if (!key) {
      key = createPrivateKey(this.#app.secrets.decrypt(private_key, domainKeyContext(id)));
      this.#parsed.set(id, key);
    }
    return key;
  }
}

/** Keeps the first key of each algorithm: rows come newest first. */
function newestOfEach(rows: readonly SigningKeyRow[]): SigningKeyRow[] {
  const newest = new Map<DkimAlgorithm, SigningKeyRow>();
  for (const row of rows) if (!newest.has(row.algorithm)) newest.set(row.algorithm, row);
  return [...newest.values()];
}

const signingKeysFor = perApp((app: App) => new SigningKeys(app));

/**
 * Returns the newest published key of each algorithm. Empty for a deleted domain, or without a
 * published key.
 * @throws InternalError if a key cannot be decrypted with this installation's secret.
 */
export function signingKeysOf(app: App, domainId: string): Promise<SigningKey[]> {
  return signingKeysFor(app).of(domainId);
}

/**
 * Returns the keys with these selectors in their order, including retired keys, to make past
 * signatures again. Leaves out deleted keys.
 * @throws InternalError if a key cannot be decrypted with this installation's secret.
 */
export function pastSigningKeys(
  app: App,
  domainId: string,
  selectors: readonly string[],
): Promise<SigningKey[]> {
  return signingKeysFor(app).named(domainId, selectors);
}

/** Drops the cached keys of a domain. Call it after the commit of a change of these keys. */
export function forgetSigningKeys(app: App, domainId: string): void {
  signingKeysFor(app).forget(domainId);
}

/**
 * Checks that this process has the root keys of the store, and records the first root key. In a
 * store of an earlier version, which names no root key, a stored key must be decrypted. @throws
 * UnreachableError that explains what to do.
 */
export async function checkSecret(app: App): Promise<void> {
  const isNamed = (await selectRootKeys(app.store.db)).length > 0;
  const key = isNamed ? undefined : await findAnyKey(app.store.db);
  const first = key && app.secrets.keyOf(key.private_key, domainKeyContext(key.id));
  if (first === null) throw foreignKey(app.secrets, null);
  await settleRootKeys(app, first);
}
