// Rotation of the root key: with writers beside it, after a kill at every step, and against
// processes that lack a key.
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beat } from '../../src/access/admission/queries.ts';
import type { App } from '../../src/core/app.ts';
import { selectRootKeys } from '../../src/core/root-keys/queries.ts';
import { holdRootKey, learnRootKeys } from '../../src/core/root-keys/root-keys.ts';
import { openSecrets } from '../../src/core/root-keys/secrets.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { checkSecret } from '../../src/identity/domains/signing-keys.ts';
import { startProof } from '../../src/identity/senders/proof.ts';
import { findDefaultSender } from '../../src/identity/senders/queries.ts';
import { listRootKeys, rotateRootKey } from '../../src/key-rotation/rotate.ts';
import {
  readStorageToken,
  storageUrls,
} from '../../src/outbound/messages/contents/storage-urls.ts';
import { readReturnPath } from '../../src/outbound/queue/attempting/return-path.ts';
import { readToken, tokensOf } from '../../src/outbound/tracking/tokens.ts';
import {
  linkToken,
  mailToken,
  readLinkToken,
  readMailToken,
} from '../../src/outbound/unsubscribe-links/tokens.ts';
import { keyBytes, secretFile } from '../../src/platform/runtime/key-ring.ts';
import { createWebhook, deleteWebhook } from '../../src/webhooks/endpoints/webhooks.ts';
import { bothStores } from '../support/command.ts';
import { until } from '../support/daemon-process.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { loopbackConfig } from '../webhooks/engine.ts';
import { fixedSecrets, readAllSecrets, storeAllSecrets } from './all-secrets.ts';

const day = 86_400_000;

let test: TestApp;
afterEach(() => test.close());

/** Returns the root keys in the file, the oldest first. */
function keysInFile({ config }: App): Buffer[] {
  const bytes = readFileSync(secretFile(config.dataDir));
  return Array.from({ length: bytes.length / keyBytes }, (_, at) =>
    bytes.subarray(at * keyBytes, (at + 1) * keyBytes),
  );
}

/** Returns the app as a process that knows only these keys of its environment. */
function withKeys(app: App, keys: readonly Buffer[]): App {
  return { ...app, secrets: fixedSecrets(app.random, keys) };
}

/** Reads every secret with the newest root key alone. */
function readWithNewest(app: App): Promise<Map<string, string>> {
  return readAllSecrets(app, fixedSecrets(app.random, keysInFile(app).slice(-1)));
}

const addWebhook = (app: App) =>
  createWebhook(app, test.operator, {
    url: 'http://127.0.0.1:9/hook',
    events: ['*'],
    headers: { 'x-test': 'beside a rotation' },
  });

describe.each(bothStores)('a rotation of the root key on %s', (store) => {
  beforeEach(async () => {
    test = await testApp({ store, config: loopbackConfig });
    await storeAllSecrets(test);
  });

  it('leaves every secret readable with the new key alone', async () => {
    const before = await readAllSecrets(test.app, test.app.secrets);
    const rotated = await rotateRootKey(test.app);
    expect(await readWithNewest(test.app)).toEqual(before);
    expect(rotated).toMatchObject({ rows: before.size, wasResumed: false });
    expect(await listRootKeys(test.app)).toMatchObject([
      { id: rotated.key, status: 'in-force', replacedAt: null },
      { id: rotated.replaced, status: 'verifies' },
    ]);
    await checkSecret(withKeys(await test.another(), keysInFile(test.app).slice(-1)));
  });

  it('can follow another', async () => {
    const before = await readAllSecrets(test.app, test.app.secrets);
    await rotateRootKey(test.app);
    await rotateRootKey(test.app);
    expect(keysInFile(test.app)).toHaveLength(3);
    expect(await readWithNewest(test.app)).toEqual(before);
  });

  it('keeps secrets that another process stores between any two steps', async () => {
    const other = await test.another();
    const names: string[] = [];
    await rotateRootKey(test.app, async (step) => {
      names.push(`${names.length}-${step}.example`);
      await addWebhook(other);
      await addDomain(other, test.operator, { domain: names.at(-1) ?? '' });
    });
    const found = await readWithNewest(test.app);
    const hooks = [...found.values()].filter((text) => text.includes('beside a rotation'));
    expect(hooks).toHaveLength(names.length);
  });

  it('keeps secrets that another process stores all the time', async () => {
    const other = await test.another();
    let isOver = false;
    const kept: string[] = [];
    const writing = (async () => {
      while (!isOver) {
        kept.push((await addWebhook(other)).id);
        // An organization has at most 50, and a rotation lasts as long as the machine needs.
        if (kept.length > 20) await deleteWebhook(other, test.operator, kept.shift() ?? '');
      }
    })();
    await rotateRootKey(test.app, async () => void (await addWebhook(test.app))).finally(() => {
      isOver = true;
    });
    await writing;
    const found = await readWithNewest(test.app);
    for (const id of kept) expect(found.has(`webhook_endpoints.secret ${id}`)).toBe(true);
    expect(kept.length).toBeGreaterThan(0);
  });

  it('continues after a kill at every step, and adds one key only', async () => {
    const before = await readAllSecrets(test.app, test.app.secrets);
    let steps = 1;
    for (let killed = true; killed; steps++) {
      let step = 0;
      const process = await test.another();
      const rotating = rotateRootKey(process, () => {
        if (++step === steps) throw new Error('killed');
      });
      // A kill after the last commit leaves a rotation that is over.
      killed = await rotating.then(
        () => false,
        async () => (await selectRootKeys(process.store.db)).at(-1)?.rows_done_at == null,
      );
      expect(await readAllSecrets(test.app, process.secrets)).toEqual(before);
      if (steps > 50) throw new Error('a rotation never ends');
    }
    expect(steps).toBeGreaterThan(2);
    expect(keysInFile(test.app)).toHaveLength(2);
    expect(await readWithNewest(test.app)).toEqual(before);
  });

  it('finds a key that was appended to the file before a kill', async () => {
    const { random, secrets } = await test.another();
    secrets.source.add(random.bytes(keyBytes));
    await rotateRootKey(test.app);
    expect(keysInFile(test.app)).toHaveLength(2);
  });

  it('encrypts a text anew that was made before and is stored after', async () => {
    const other = await test.another();
    const early = other.secrets.encrypt('early', 'test:1');
    const { key } = await rotateRootKey(test.app);
    const stored = await other.store.write(async (trx) => {
      const renew = await holdRootKey(other, trx);
      return renew(early, 'test:1');
    });
    expect(stored.startsWith(`v1.${key}.`)).toBe(true);
    expect(test.app.secrets.decrypt(stored, 'test:1').toString()).toBe('early');
  });

  it('stops the writes of a process that keeps the old key alone', async () => {
    const stale = withKeys(await test.another(), keysInFile(test.app));
    const { key } = await rotateRootKey(test.app);
    const text = `SVC_SECRET_KEY is not the key of this store: give it the keys of the other daemons`;
    await expect(addWebhook(stale)).rejects.toThrow(text);
    await expect(addDomain(stale, test.operator, { domain: 'stale.example' })).rejects.toThrow(key);
    await expect(learnRootKeys(stale)).rejects.toThrow(text);
    await expect(checkSecret(stale)).rejects.toThrow(text);
    await readWithNewest(test.app);
  });

  it('refuses a wrong key at the start', async () => {
    const wrong = Buffer.alloc(keyBytes, 7);
    await expect(checkSecret(withKeys(test.app, [wrong]))).rejects.toThrow(
      'is not the key of this',
    );
  });

  it('refuses the new key alone until no row needs the old one', async () => {
    await expect(
      rotateRootKey(test.app, (step) => {
        if (step === 'replace') throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    const newest = keysInFile(test.app).slice(-1);
    await expect(checkSecret(withKeys(test.app, newest))).rejects.toThrow('is not the key of this');
    await rotateRootKey(test.app);
    await checkSecret(withKeys(test.app, newest));
  });

  it('tells how to add a key to the environment, and changes nothing', async () => {
    const settings = { file: null, key: keysInFile(test.app).at(0)?.toString('base64') ?? '' };
    const secrets = openSecrets('/nowhere', test.app.random, { settings });
    await expect(rotateRootKey({ ...test.app, secrets })).rejects.toThrow(
      /SVC_SECRET_KEY has no new key: append one, as of "openssl rand -base64 32", after a comma/,
    );
    expect(await selectRootKeys(test.app.store.db)).toHaveLength(1);
    const both = `${settings.key}, ${Buffer.alloc(keyBytes, 9).toString('base64')}`;
    const given = openSecrets('/nowhere', test.app.random, { settings: { file: null, key: both } });
    const before = await readAllSecrets(test.app, test.app.secrets);
    await rotateRootKey({ ...test.app, secrets: given });
    const alone = fixedSecrets(test.app.random, [Buffer.alloc(keyBytes, 9)]);
    expect(await readAllSecrets(test.app, alone)).toEqual(before);
  });
});

describe('tokens after a rotation of the root key', () => {
  const leaver = (app: App) => ({
    organizationId: test.caller.organizationId,
    groupId: app.newId('unsubscribeGroup'),
    messageId: app.newId('message'),
    address: 'ann@example.com',
  });

  beforeEach(async () => {
    test = await testApp();
  });

  it('of earlier mail verify for ever, and are made with the same bytes', async () => {
    const { app } = test;
    const delivery = app.newId('delivery');
    const one = leaver(app);
    const at = test.clock.now();
    const make = (by: App) => [
      linkToken(by, one),
      mailToken(by, delivery),
      tokensOf(by, delivery)(3),
      by.secrets.twinTokens('bounce', delivery, at).first,
    ];
    const before = make(app);
    await rotateRootKey(app);
    await test.clock.advance(400 * day);
    const later = await test.another();
    expect(make(later)).toEqual(before);
    const [link = '', mail = '', click = '', bounce = ''] = before;
    expect(readLinkToken(later, link)).toEqual(one);
    expect(readMailToken(later, mail)).toBe(delivery);
    expect(readToken(later, click)).toEqual({ deliveryId: delivery, link: 3 });
    expect(readReturnPath(later, `bounce+${bounce}@b.example`)?.deliveryId).toBe(delivery);
  });

  it('of later mail cannot be made with the old key', async () => {
    const old = withKeys(test.app, keysInFile(test.app));
    await rotateRootKey(test.app);
    await test.clock.advance(day);
    const { app } = test;
    const delivery = app.newId('delivery');
    const one = leaver(app);
    expect(readLinkToken(app, linkToken(old, one))).toBeNull();
    expect(readMailToken(app, mailToken(old, delivery))).toBeNull();
    expect(readToken(app, tokensOf(old, delivery)(3))).toBeNull();
    expect(readLinkToken(app, linkToken(app, one))).toEqual(one);
    expect(readMailToken(app, mailToken(app, delivery))).toBe(delivery);
    expect(readToken(app, tokensOf(app, delivery)(3))).toEqual({ deliveryId: delivery, link: 3 });
  });

  it('of storage URLs end a week after it for the old key', async () => {
    const { app } = test;
    const old = withKeys(app, keysInFile(app));
    const message = app.newId('message');
    const tokenFrom = (by: App) =>
      storageUrls(by, message, { expiresInSeconds: 3600 }, { html: null, text: null }).raw.split(
        '/storage/',
      )[1] ?? '';
    const early = tokenFrom(app);
    await rotateRootKey(app);
    await test.clock.advance(60_000);
    expect(readStorageToken(app, early).messageId).toBe(message);
    await test.clock.advance(8 * day);
    expect(() => readStorageToken(app, tokenFrom(old))).toThrow('this link');
    expect(readStorageToken(app, tokenFrom(app)).messageId).toBe(message);
  });
});

describe('a rotation beside daemons on PostgreSQL', () => {
  beforeEach(async () => {
    test = await testApp({ store: 'postgres' });
  });

  /** Rotates while the clock runs and `daemons` send heartbeats. */
  async function rotateBeside(daemons: () => Promise<void>) {
    await daemons();
    let outcome: unknown = null;
    void rotateRootKey(test.app).then(
      () => {
        outcome = 'rotated';
      },
      (error: Error) => {
        outcome = error.message;
      },
    );
    while (outcome === null) {
      await daemons();
      await test.clock.advance(500);
    }
    return outcome;
  }

  const beating = (keys: () => string) =>
    test.app.store
      .write((trx) => beat(trx, { id: 'wrk_a', root_keys: keys(), settings: null }), 'quiet')
      .then(() => {});

  it('is refused while a live daemon lacks the new key', async () => {
    const keys = test.app.secrets.keyIds.join(' ');
    expect(await rotateBeside(() => beating(() => keys))).toMatch(
      /These daemons do not have the root key \w+: wrk_a\. Nothing has changed: let all daemons share one file/,
    );
    expect((await selectRootKeys(test.app.store.db)).at(0)?.replaced_at).toBeNull();
    expect(await rotateBeside(() => beating(() => test.app.secrets.keyIds.join(' ')))).toBe(
      'rotated',
    );
  });

  it('waits for a transaction that holds the old key, and encrypts its text anew', async () => {
    await storeAllSecrets(test);
    const other = await test.another();
    let letGo = () => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let hold = () => {};
    const held = new Promise<void>((resolve) => {
      hold = resolve;
    });
    const writing = other.store.write(async (trx) => {
      await holdRootKey(other, trx);
      hold();
      await gate;
      const sender = await findDefaultSender(trx, test.caller.organizationId);
      if (sender)
        await startProof(other, trx, sender, { messageId: other.newId('message'), times: [] });
    });
    await held;
    const rotating = rotateRootKey(test.app);
    await until(async () => {
      const { rows } = await sql`select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%root_keys%'`.execute(test.app.store.db);
      return rows.length > 0;
    }, 'a rotation that waits');
    letGo();
    await Promise.all([writing, rotating]);
    const found = await readWithNewest(test.app);
    expect([...found.keys()].some((place) => place.startsWith('senders.proof_token'))).toBe(true);
  });

  it('does not wait for a daemon that has stopped', async () => {
    await test.app.store.write(
      (trx) => beat(trx, { id: 'wrk_dead', root_keys: '', settings: null }),
      'quiet',
    );
    expect(await rotateBeside(async () => {})).toBe('rotated');
  });
});
