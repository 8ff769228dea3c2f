// Turns the plaintext of a key into a caller (specification 5). Known keys come from memory
// (changes.ts): the request neither reads nor writes the store. A revocation takes effect at once
// in this process, and within a second in other processes.
import { timingSafeEqual } from 'node:crypto';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { KnownRows } from '../../platform/store/changes/changes.ts';
import { type KnownKey, knownKeys } from './changes.ts';
import { callerOf } from './key-caller.ts';
import { hashKey, isKeyText } from './key-format.ts';
import * as queries from './queries.ts';

const mostTouchesPerWrite = 200;

function knownKey(row: queries.KeyRow): KnownKey {
  return {
    hash: row.hash,
    caller: Object.freeze(callerOf(row)),
    keyId: row.id,
    expiresAt: row.expires_at,
  };
}

function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

export class Authenticator {
  readonly #app: App;
  readonly #known: KnownRows<KnownKey>;
  #used = new Map<string, number>();

  constructor(app: App) {
    this.#app = app;
    this.#known = knownKeys(app);
  }

  /** Returns the caller of a key; null for a malformed, unknown, revoked or expired key (401). */
  async authenticate(plaintext: string): Promise<Caller | null> {
    return isKeyText(plaintext) ? this.authenticateHash(hashKey(plaintext)) : null;
  }

  /** Returns the caller of a key hash from an earlier login; null like `authenticate`. */
  async authenticateHash(hash: string): Promise<Caller | null> {
    if (this.#known.isStale()) await this.#known.refresh();
    const key = this.#known.get(hash) ?? (await this.#known.load(hash, () => this.#find(hash)));
    if (!key || !isSameHash(key.hash, hash)) return null;
    const now = this.#app.clock.now();
    if (key.expiresAt !== null && key.expiresAt <= now) return null;
    this.#used.set(key.keyId, now);
    return key.caller;
  }

  /**
   * Writes `lastUsedAt` of the keys used since the last call. The scheduler calls it each minute.
   */
  async flushLastUsed(): Promise<void> {
    const used = this.#used;
    this.#used = new Map();
    // Sorted, because every daemon locks keys in this order.
    const entries = [...used].sort(([a], [b]) => (a < b ? -1 : 1));
    try {
      for (let i = 0; i < entries.length; i += mostTouchesPerWrite) {
        const some = entries.slice(i, i + mostTouchesPerWrite);
        await this.#app.store.write(async (trx) => {
          for (const [id, at] of some) await queries.updateLastUsed(trx, id, at);
        }, 'quiet');
      }
    } catch (error) {
      this.#used = new Map([...used, ...this.#used]);
      throw error;
    }
  }

  /** Writes the last `lastUsedAt` times. A failed write only loses them: they are informational. */
  async close(): Promise<void> {
    await this.flushLastUsed().catch((error: unknown) => {
      this.#app.log.warn({ err: error }, 'the time of last use of keys could not be stored');
    });
  }

  async #find(hash: string): Promise<KnownKey | undefined> {
    const row = await queries.findKeyByHash(this.#app.store.db, hash);
    return row?.is_active === 1 ? knownKey(row) : undefined;
  }
}

/** Creates the authenticator of a process. */
export function createAuthenticator(app: App): Authenticator {
  return new Authenticator(app);
}
