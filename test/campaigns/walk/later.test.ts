// Runs after others, and runs while the world changes, on both stores: retries, runs to new
// contacts only, a clock that is set, quiet hours, two daemons.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import { retryRun } from '../../../src/campaigns/setup/runs.ts';
import { campaignLoop } from '../../../src/campaigns/walk/loop.ts';
import { stalledRuns } from '../../../src/campaigns/walk/stalled.ts';
import { dayMs, onPlan } from '../../access/admission/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { storedRun } from '../campaigns/fixtures.ts';
import {
  ledgerOf,
  makeCampaign,
  makeContacts,
  makeRun,
  messagesOf,
  readRun,
  whileWalking,
} from './fixtures.ts';

const minuteMs = 60_000;

describe.each(stores)('a run on %s', (store) => {
  const test = eachApp({ store });
  const contacts = (count: number, more = {}) => makeContacts(test.app, test.operator, count, more);
  const start = async (campaignId: string, more = {}) =>
    makeRun(test.app, test.operator, campaignId, more);
  const read = (run: Run) => readRun(test.app, test.operator, run);
  const walk = () => whileWalking(test.app, (loop) => loop.idle());
  const judged = async (run: Run) =>
    (await ledgerOf(test.app, run.id)).map(({ contact_id }) => contact_id);

  it('that is a retry reaches exactly the failed', async () => {
    const ids = await contacts(7);
    const run = await start(await makeCampaign(test.app, test.operator));
    await walk();
    const ledger = await ledgerOf(test.app, run.id);
    const statuses = ['failed', 'bounced', 'complained', 'delivered', 'pending', 'sent'];
    await test.app.store.write(async (trx) => {
      for (const [index, status] of statuses.entries()) {
        const id = ledger[index]?.message_id;
        await sql`update messages set status = ${status} where id = ${id}`.execute(trx);
      }
      await sql`update campaign_recipients set outcome = 'failed', message_id = null,
        address_key = null where run_id = ${run.id} and contact_id = ${ids[6]}`.execute(trx);
      await sql`update campaign_runs set failed_count = 1 where id = ${run.id}`.execute(trx);
    });
    const place = { campaignId: run.campaignId, runId: run.id };
    const retry = await retryRun(test.app, test.operator, place, {});
    await walk();
    expect(await judged(retry)).toEqual([ids[0], ids[6]]);
    expect(await read(retry)).toMatchObject({ status: 'completed', totalRecipients: 2 });
    const again = await retryRun(test.app, test.operator, place, {});
    await walk();
    expect(await judged(again)).toEqual([]);
  });

  it('with onlyNew leaves out all contacts of earlier runs', async () => {
    await contacts(3);
    const campaignId = await makeCampaign(test.app, test.operator);
    await start(campaignId);
    await walk();
    await test.clock.advance(1_000);
    const late = await contacts(2, { domain: 'late.example' });
    const run = await start(campaignId, { onlyNew: true });
    await walk();
    expect(await judged(run)).toEqual(late);
  });

  it.each([
    ['back', -dayMs],
    ['forth', dayMs],
  ])('continues within two minutes after the clock was set %s by a day', async (_way, ms) => {
    await onPlan(test, 'scale');
    await contacts(200);
    const run = await start(await makeCampaign(test.app, test.operator));
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      expect((await read(run)).dispatchedCount).toBe(50);
      test.clock.set(test.clock.now() + ms);
      const isWalked = async () => (await read(run)).status === 'completed';
      for (let passed = 0; passed < 2 * minuteMs && !(await isWalked()); passed += 1_000) {
        await test.clock.advance(1_000);
        await loop.idle();
      }
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 200 });
    });
  });

  it('keeps messages until the end of the quiet hours of their contacts', async () => {
    // It is 12:00 UTC.
    const quiet = (timezone: string | null, begin: string, end: string) => ({
      preferences: { timezone, notifications: { quiet_hours: { start: begin, end } } },
    });
    const zones = [
      quiet('Europe/Berlin', '12:30', '14:00'),
      quiet('America/New_York', '22:00', '07:30'),
      quiet('Asia/Kathmandu', '17:00', '23:15'),
      quiet('no zone', '11:00', '12:10'),
      quiet(null, '13:00', '14:00'),
    ];
    for (const [index, parts] of zones.entries()) {
      await contacts(1, { ...parts, domain: `d${index}.example` });
    }
    const run = await start(await makeCampaign(test.app, test.operator));
    await walk();
    const query = sql<{ at: number | null }>`select scheduled_for as at from messages
      where campaign_run_id = ${run.id} order by id`;
    const times = (await query.execute(test.app.store.db)).rows.map(({ at }) =>
      at === null ? null : new Date(Number(at)).toISOString().slice(11, 16),
    );
    expect(times).toEqual(['13:00', '12:30', '17:30', '12:10', null]);
    expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 5 });
  });

  it('is stalled after 15 minutes without a message or a reason to wait', async () => {
    const before = test.clock.now();
    await test.clock.advance(16 * minuteMs);
    const waitsFor = (wait_reason: 'rate' | null) =>
      storedRun(test.app, test.operator, 'running', {
        ...{ wait_reason, due_at: before, updated_at: before, worker: null, leased_until: null },
      });
    await waitsFor('rate');
    expect(await stalledRuns(test.app)).toBe(0);
    await waitsFor(null);
    expect(await stalledRuns(test.app)).toBe(1);
  });
});

describe('two daemons on postgres', () => {
  const test = eachApp({ store: 'postgres' });

  it('share the runs, and reach each contact once', async () => {
    const ids = await makeContacts(test.app, test.operator, 1_200);
    const campaignId = await makeCampaign(test.app, test.operator);
    const runs = await Promise.all(
      [1, 2, 3, 4].map(() => makeRun(test.app, test.operator, campaignId)),
    );
    const loops = [campaignLoop(test.app), campaignLoop(await test.another())];
    for (const loop of loops) await loop.start();
    for (let second = 0; second < 60; second++) {
      await Promise.all(loops.map((loop) => loop.idle()));
      await test.clock.advance(1_000);
    }
    for (const loop of loops) await loop.stop();
    for (const run of runs) {
      const now = await readRun(test.app, test.operator, run);
      expect(now).toMatchObject({ status: 'completed', dispatchedCount: ids.length });
      expect(await messagesOf(test.app, run.id)).toBe(ids.length);
    }
  });
});
