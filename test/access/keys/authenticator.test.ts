import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Authenticator, createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { makeKey } from '../../../src/access/keys/key-format.ts';
import { createKey, getKey, revokeKey, rotateKey } from '../../../src/access/keys/keys.ts';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import type { CreateKey } from '../../../src/access/keys/schema.ts';
import type { App } from '../../../src/core/app.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

describe.each(stores)('authentication on %s', (store) => {
  const test = eachApp({ store });
  let authenticator: Authenticator;
  beforeEach(async () => {
    authenticator = createAuthenticator(test.app);
  });

  async function makeKeyOf(input: CreateKey) {
    const made = await createKey(test.app, test.operator, input);
    return { ...made, key: made.key ?? '' };
  }

  /** Wraps the app and counts its reads of the store. */
  function countingApp(): { app: App; reads: () => number } {
    let count = 0;
    const { store } = test.app;
    const counting = {
      ...store,
      get db() {
        count++;
        return store.db;
      },
    };
    return { app: { ...test.app, store: counting }, reads: () => count };
  }

  /** Wraps the app; its first read of a row with this column waits for `letGo`. */
  function holdingApp(column: string) {
    const reading = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const { store } = test.app;
    const db = store.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => column in row)) {
          reading.resolve();
          await held.promise;
        }
        return result;
      },
    });
    const app: App = { ...test.app, store: { ...store, db } };
    return { app, reading: reading.promise, letGo: held.resolve };
  }

  it('returns the caller with its permissions', async () => {
    const made = await makeKeyOf({ role: 'sender', owner: 'person', mode: 'test' });
    expect(await authenticator.authenticate(made.key)).toEqual({
      organizationId: test.caller.organizationId,
      by: { kind: 'key', keyId: made.id },
      keyId: made.id,
      lineage: made.id,
      keyName: null,
      permissions: { messages: ['send', 'read'], templates: ['read'] },
      roleName: 'sender',
      owner: 'person',
      isTest: true,
      constraints: null,
      sendMode: 'send',
      installation: null,
    });
  });

  it('returns null for unknown, malformed, revoked and expired keys alike', async () => {
    const revoked = await makeKeyOf({});
    await revokeKey(test.app, test.operator, revoked.id);
    const expired = await makeKeyOf({ expiresAt: '2026-01-05T12:00:10Z' });
    expect(await authenticator.authenticate(expired.key)).not.toBeNull();
    await test.clock.advance(10_000);
    const unknown = makeKey(seededRandom(99), 'live').plaintext;
    for (const text of [revoked.key, expired.key, unknown, 'nonsense', '', `${revoked.key}x`]) {
      expect(await authenticator.authenticate(text)).toBeNull();
    }
  });

  it('rejects a malformed key without a read of the store', async () => {
    const { app, reads } = countingApp();
    const counted = createAuthenticator(app);
    expect(await counted.authenticate('svc_live_nonsense')).toBeNull();
    expect(await counted.authenticate(`svc_live_${'A'.repeat(38)}`)).toBeNull();
    expect(reads()).toBe(0);
    const unknown = makeKey(seededRandom(99), 'live').plaintext;
    expect(await counted.authenticate(unknown)).toBeNull();
    expect(reads()).toBeGreaterThan(0);
  });

  it('answers for a known key without a read of the store', async () => {
    const made = await makeKeyOf({});
    const { app, reads } = countingApp();
    const counted = createAuthenticator(app);
    const caller = await counted.authenticate(made.key);
    const before = reads();
    for (let i = 0; i < 10; i++) expect(await counted.authenticate(made.key)).toBe(caller);
    expect(reads()).toBe(before);
  });

  it('refuses a key from the next request on after this process revoked or rotated it', async () => {
    const revoked = await makeKeyOf({});
    const rotated = await makeKeyOf({});
    expect(await authenticator.authenticate(revoked.key)).not.toBeNull();
    expect(await authenticator.authenticate(rotated.key)).not.toBeNull();
    await revokeKey(test.app, test.caller, revoked.id);
    await rotateKey(test.app, test.caller, rotated.id);
    expect(await authenticator.authenticate(revoked.key)).toBeNull();
    expect(await authenticator.authenticate(rotated.key)).toBeNull();
  });

  it.each([
    ['its row', 'hash'],
    ['the counter of changes', 'counter'],
  ])('does not cache a key that is revoked while %s is read', async (_what, column) => {
    const made = await makeKeyOf({});
    const { app, reading, letGo } = holdingApp(column);
    const holding = createAuthenticator(app);
    const asked = holding.authenticate(made.key);
    await reading;
    await revokeKey(app, test.operator, made.id);
    letGo();
    const answer = await asked;
    // Its row was read before the revocation; the counter comes before the row.
    if (column === 'hash') expect(answer).toMatchObject({ keyId: made.id });
    else expect(answer).toBeNull();
    expect(await holding.authenticate(made.key)).toBeNull();
    await test.clock.advance(500);
    expect(await holding.authenticate(made.key)).toBeNull();
  });

  it('refuses a key within a second after another process revoked it', async () => {
    const made = await makeKeyOf({});
    expect(await authenticator.authenticate(made.key)).not.toBeNull();
    const command = await test.another();
    await revokeKey(command, operatorOf(test.caller.organizationId), made.id);
    await test.clock.advance(999);
    expect(await authenticator.authenticate(made.key)).toBeNull();
  });

  it('accepts a key just made by another process', async () => {
    const command = await test.another();
    const made = await createKey(command, test.operator, {});
    expect(await authenticator.authenticate(made.key ?? '')).toMatchObject({ keyId: made.id });
  });

  it('refuses a revoked key after the clock was set back', async () => {
    const made = await makeKeyOf({});
    expect(await authenticator.authenticate(made.key)).not.toBeNull();
    const command = await test.another();
    await revokeKey(command, operatorOf(test.caller.organizationId), made.id);
    test.clock.set(test.clock.now() - 3_600_000);
    expect(await authenticator.authenticate(made.key)).toBeNull();
  });

  describe('the time of last use', () => {
    const lastUse = async (id: string) => (await getKey(test.app, test.caller, id)).lastUsedAt;

    it('is written by the flush instead of the request', async () => {
      const made = await makeKeyOf({});
      await authenticator.authenticate(made.key);
      expect(await lastUse(made.id)).toBeNull();
      await authenticator.flushLastUsed();
      expect(await lastUse(made.id)).toBe('2026-01-05T12:00:00.000Z');
    });

    it('is the latest since the last flush, and is written at close too', async () => {
      const made = await makeKeyOf({});
      for (let i = 0; i < 3; i++) {
        await authenticator.authenticate(made.key);
        await test.clock.advance(1_000);
      }
      await authenticator.close();
      expect(await lastUse(made.id)).toBe('2026-01-05T12:00:02.000Z');
    });

    it('never goes back when daemons flush in any order', async () => {
      const made = await makeKeyOf({});
      const other = createAuthenticator(await test.another());
      await authenticator.authenticate(made.key);
      await test.clock.advance(1_000);
      await other.authenticate(made.key);
      await other.flushLastUsed();
      await authenticator.flushLastUsed();
      expect(await lastUse(made.id)).toBe('2026-01-05T12:00:01.000Z');
    });

    it('is written by the next flush after a failed one', async () => {
      const made = await makeKeyOf({});
      await authenticator.authenticate(made.key);
      // A renamed table makes the flush fail for a while.
      const rename = (from: string, to: string) =>
        test.app.store.write((trx) =>
          sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(trx),
        );
      await rename('api_keys', 'api_keys_away');
      await expect(authenticator.flushLastUsed()).rejects.toThrow('api_keys');
      await rename('api_keys_away', 'api_keys');
      await test.clock.advance(1_000);
      await authenticator.flushLastUsed();
      expect(await lastUse(made.id)).toBe('2026-01-05T12:00:00.000Z');
    });

    it('ignores refused keys', async () => {
      const made = await makeKeyOf({ expiresAt: '2026-01-05T12:00:10Z' });
      await test.clock.advance(10_000);
      await authenticator.authenticate(made.key);
      await authenticator.flushLastUsed();
      expect(await lastUse(made.id)).toBeNull();
    });
  });
});
