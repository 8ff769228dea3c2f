// Sealing on both stores: every committed event once, in the order of commits, whoever seals.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { freshEvents } from '../../../src/history/events/fresh.ts';
import { leafHash } from '../../../src/history/events/leaf.ts';
import { idAfterAll, selectLogBetween } from '../../../src/history/events/log-queries.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { isSignedBy } from '../../../src/receipts/head.ts';
import { listPublicKeys } from '../../../src/receipts/keys.ts';
import { proveEvents } from '../../../src/receipts/prove.ts';
import { findTree, type TreeRow } from '../../../src/receipts/queries.ts';
import { sealLog } from '../../../src/receipts/seal.ts';
import { rootOver, toHex } from '../../../src/receipts/tree.ts';
import { verifyLog } from '../../../src/receipts/verify-log.ts';
import { heldWrite } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { leafTexts, recordResource, recordSteps } from './log.ts';

describe.each(bothStores)('the seal of a log on %s', (store) => {
  const test = eachApp({ store });
  const ours = () => test.caller.organizationId;

  const steps = (count: number, app = test.app) =>
    app.store.write((trx) =>
      recordSteps(
        app,
        trx,
        ours(),
        Array.from({ length: count }, (_, at) => `msg_${at}`),
      ),
    );
  const resource = (id: string, size?: number) =>
    test.app.store.write((trx) => recordResource(test.app, trx, ours(), id, size));

  /** Expects that the tree is over all events of the store, and that its head is signed. */
  async function expectWhole(tree: TreeRow | undefined): Promise<void> {
    const texts = await leafTexts(test.app, ours());
    expect(tree?.size).toBe(texts.length);
    expect(tree?.root).toBe(toHex(rootOver(texts.map(leafHash))));
    const keys = await listPublicKeys(test.app);
    const { size = 0, root = '', sealed_at = 0, signature = '', key_id: keyId = '' } = tree ?? {};
    const head = { size, root, at: isoTime(sealed_at), signature, keyId };
    // Processes that begin together may make a key each.
    const key = keys.find((one) => one.keyId === keyId);
    expect(isSignedBy(ours(), head, key?.publicKey ?? '')).toBe(true);
    expect(isSignedBy('org_other', head, key?.publicKey ?? '')).toBe(false);
  }

  it('covers the events of messages and of resources, in the order of ids', async () => {
    await steps(3);
    await resource('contact_1');
    await steps(700);
    await resource('contact_2');
    await expectWhole(await sealLog(test.app, ours()));
    await steps(300);
    await expectWhole(await sealLog(test.app, ours()));
  });

  it('is the same whether hashes come from memory or from the store', async () => {
    freshEvents(test.app).onCount = () => {};
    await steps(300);
    const ids = (await leafTexts(test.app, ours())).map((text) => JSON.parse(text)[0] as string);
    const remembered = ids.slice(-300);
    expect(freshEvents(test.app).hashesOf(remembered)).toHaveLength(300);
    expect(freshEvents(test.app).hashesOf(ids)).toBeNull();
    await expectWhole(await sealLog(test.app, ours()));
    expect(freshEvents(test.app).hashesOf(remembered)).toBeNull();
    await steps(20);
    await expectWhole(await sealLog(test.app, ours()));
  });

  it('uses no hash of an event that was rolled back', async () => {
    freshEvents(test.app).onCount = () => {};
    await steps(5);
    const failing = test.app.store.write(async (trx) => {
      await recordSteps(test.app, trx, ours(), ['msg_undone']);
      throw new Error('undone');
    });
    await expect(failing).rejects.toThrow('undone');
    await steps(5);
    await expectWhole(await sealLog(test.app, ours()));
  });

  it('takes large events a few at a time', async () => {
    for (let at = 0; at < 12; at += 1) {
      await resource(`contact_${at}`, 900_000);
      await steps(2);
    }
    await expectWhole(await sealLog(test.app, ours()));
  });

  it('holds each event once when several processes seal side by side', async () => {
    const others = [test.app, await test.another(), await test.another()];
    await steps(2_500);
    await Promise.all(others.map((app) => sealLog(app, ours())));
    await expectWhole(await findTree(test.app.store.db, ours()));
    await Promise.all([steps(400), ...others.map((app) => sealLog(app, ours()))]);
    await expectWhole(await sealLog(test.app, ours()));
  });

  it('returns nothing for an organization without events', async () => {
    expect(await sealLog(test.app, 'org_none')).toBeUndefined();
  });

  it.each([
    ['a minute', 60_000],
    ['120 days', 120 * 86_400_000],
  ])(
    'continues after a clock that ran %s ahead, in this process and the next',
    async (_name, ms) => {
      const { clock } = test;
      const right = clock.now();
      await steps(200);
      clock.set(right + ms);
      await steps(300);
      await sealLog(test.app, ours());
      clock.set(right);
      const next = await test.another();
      for (const app of [test.app, next]) {
        await steps(100, app);
        await sealLog(app, ours());
      }
      const rows = await selectLogBetween(
        next.store.db,
        ours(),
        { after: '', before: idAfterAll },
        1_000,
        4_194_304,
      );
      const tree = await sealLog(next, ours());
      const proofs = tree ? await proveEvents(next, tree, rows) : [];
      expect(tree?.size).toBe(rows.length);
      expect(new Set(proofs.map((proof) => proof?.index)).size).toBe(rows.length);
      expect(await verifyLog(next, ours())).toMatchObject({
        ...{ sound: rows.length, changed: [], deleted: 0, unsealed: 0, problems: [] },
      });
      clock.set(right + ms);
      await steps(1);
      await sealLog(test.app, ours());
      expect(await verifyLog(next, ours())).toMatchObject({ sound: rows.length + 1, changed: [] });
    },
  );

  it('keeps the hashes of deleted events', async () => {
    await steps(10);
    const before = await sealLog(test.app, ours());
    await test.app.store.write((trx) =>
      sql`delete from events where message_id = 'msg_3'`.execute(trx),
    );
    const after = await sealLog(test.app, ours());
    expect(after).toEqual(before);
  });
});

describe('the seal of a log on PostgreSQL', () => {
  const test = eachApp({ store: 'postgres' });

  it('takes an event whose transaction ends after that of a later event', async () => {
    const { app } = test;
    const ours = test.caller.organizationId;
    const held = await heldWrite(app, (trx) => recordSteps(app, trx, ours, ['msg_early']));
    await app.store.write((trx) => recordSteps(app, trx, ours, ['msg_late']));
    const before = await sealLog(app, ours);
    await held.commit();
    const after = await sealLog(app, ours);
    expect(after?.size).toBe((before?.size ?? 0) + 1);
    expect(await verifyLog(app, ours)).toMatchObject({
      ...{ sound: after?.size, changed: [], deleted: 0, unsealed: 0, problems: [] },
    });
  });
});
