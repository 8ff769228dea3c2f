// Two runs of one campaign that leave out the contacts of each other, walked by two daemons at
// once: each contact gets one message of both. The page of the first run is held before its commit
// until the page of the second waits for it.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { retryRun } from '../../../src/campaigns/setup/runs.ts';
import { campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import type { App } from '../../../src/core/app.ts';
import { eachApp } from '../../support/each-app.ts';
import {
  ledgerOf,
  makeCampaign,
  makeContacts,
  makeRun,
  messagesOf,
  whileWalking,
} from './fixtures.ts';

const test = eachApp({ store: 'postgres' });

const countOf = async ({ store }: App, text: string): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*) as n ${sql.raw(text)}`.execute(
    store.db,
  );
  return Number(rows[0]?.n);
};

/**
 * Holds the first transaction of this app that writes the ledger, until `release`; `held` resolves
 * then.
 */
function holdPage({ store }: App) {
  const { write } = store;
  const held = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  let isHeld = false;
  const holding: typeof write = (work, durability) =>
    write(async (trx) => {
      const before = await countOf({ store: { db: trx } } as App, 'from campaign_recipients');
      const result = await work(trx);
      const after = await countOf({ store: { db: trx } } as App, 'from campaign_recipients');
      if (!isHeld && after > before) {
        isHeld = true;
        held.resolve();
        await mayCommit.promise;
      }
      return result;
    }, durability);
  Object.assign(store, { write: holding });
  return { held: held.promise, release: mayCommit.resolve };
}

it.each(['onlyNew', 'retry'])('%s reaches each contact once, by two runs at once', async (kind) => {
  const { app, operator } = test;
  const ids = await makeContacts(app, operator, 5);
  const campaignId = await makeCampaign(app, operator);
  const pair = async () => {
    if (kind === 'onlyNew') {
      const first = await makeRun(app, operator, campaignId, { onlyNew: true });
      return [first, await makeRun(app, operator, campaignId, { onlyNew: true })];
    }
    const run = await makeRun(app, operator, campaignId);
    await whileWalking(app, (loop) => loop.idle());
    await sql`update messages set status = 'failed'`.execute(app.store.db);
    await sql`update campaign_runs set failed_count = 1`.execute(app.store.db);
    const place = { campaignId, runId: run.id };
    const first = await retryRun(app, operator, place, {});
    return [first, await retryRun(app, operator, place, {})];
  };
  const runs = await pair();
  const other = await test.another();
  const { held, release } = holdPage(app);
  const [here, there] = [campaignLoop(app), campaignLoop(other)];
  await here.start();
  await held;
  const before = await countOf(other, 'from campaign_recipients');
  await there.start();
  // Either the other page waits for this one, or it has been stored without that.
  const waits = 'from pg_locks where not granted';
  while (
    (await countOf(other, waits)) === 0 &&
    (await countOf(other, 'from campaign_recipients')) === before
  );
  release();
  await Promise.all([here.idle(), there.idle()]);
  await Promise.all([here.stop(), there.stop()]);
  const ledgers = await Promise.all(runs.map(({ id }) => ledgerOf(app, id)));
  const reached = ledgers.flat().map(({ contact_id }) => contact_id);
  expect(reached.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
  const messages = await Promise.all(runs.map(({ id }) => messagesOf(app, id)));
  expect(messages.reduce((sum, count) => sum + count, 0)).toBe(ids.length);
});
