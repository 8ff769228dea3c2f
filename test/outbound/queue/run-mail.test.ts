// Queued mail of campaign runs: kept back while its run is stopped, freed by a resume, ended with a
// cancelled run.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { pauseOrganization } from '../../../src/access/organizations/organizations.ts';
import type { MessageStatus } from '../../../src/outbound/deliveries/status.ts';
import { getMessage, listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { readStops } from '../../../src/outbound/queue/claiming/stops.ts';
import { cancelRun, queuedOfRun, releaseRun } from '../../../src/outbound/queue/desk/runs.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { findRunCounts } from '../../../src/run-ledger/counters.ts';
import { acceptForRun, giveToRun, newRun, putRun } from '../../people/runs/entries.ts';
import { stores } from '../../support/command.ts';
import { send, startPipeline, timeline } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { heldWrite, payload, someoneWaits } from '../messages/fixtures.ts';
import { claim, rowOf } from './entries.ts';

const hourMs = 3_600_000;

describe.each(stores)('queued mail of a run on %s', (store) => {
  const test = eachApp({ store });

  /** Sends to each address as the run does; returns the ids of the messages. */
  const sendAs = async (runId: string, addresses: readonly string[]) => {
    const ids: string[] = [];
    for (const to of addresses) ids.push((await send(test.app, test.caller, to)).id);
    await giveToRun(test.app, runId, ids);
    return ids;
  };
  const begin = () => newRun(test.app, test.caller.organizationId);
  const cancel = (runId: string, limit = 100) =>
    test.app.store.write((trx) => cancelRun(test.app, trx, runId, limit));
  const statuses = async (ids: readonly string[]): Promise<MessageStatus[]> => {
    const messages = ids.map((id) => getMessage(test.app, test.caller, id));
    return (await Promise.all(messages)).map(({ status }) => status);
  };
  const failed = async (runId: string) =>
    (await findRunCounts(test.app.store.db, [runId]))(runId).failed;

  /** Schedules a message of the run in an hour. */
  const scheduleAs = async (runId: string) => {
    const { app, caller, clock } = test;
    const at = isoTime(clock.now() + hourMs);
    const body = scheduledPayload.parse({ ...payload(), scheduledFor: at });
    const { id } = await scheduleMessage(app, caller, body);
    await giveToRun(app, runId, [id]);
    return id;
  };

  it.each(['paused', 'held'] as const)('waits while the run is %s', async (status) => {
    const runId = await begin();
    const [id = ''] = await sendAs(runId, ['run@example.com']);
    await send(test.app, test.caller, 'direct@example.com');
    await putRun(test.app, runId, status);
    expect(await claim(test.app)).toEqual(['direct@example.com']);
    expect(await rowOf(test.app, id)).toMatchObject({
      lane: `run ${runId}`,
      wait_reason: 'campaign-paused',
      due_at: test.clock.now() + 24 * hourMs,
    });
  });

  it.each(['running', 'completed'] as const)('leaves while the run is %s', async (status) => {
    const runId = await begin();
    await sendAs(runId, ['run@example.com']);
    await putRun(test.app, runId, status);
    expect(await claim(test.app)).toEqual(['run@example.com']);
  });

  it('waits for its organization before its run', async () => {
    const runId = await begin();
    const [id = ''] = await sendAs(runId, ['run@example.com']);
    await putRun(test.app, runId, 'paused');
    const { organizationId } = test.caller;
    await pauseOrganization(test.app, organizationId, {});
    await claim(test.app);
    expect((await rowOf(test.app, id)).lane).toBe(`paused ${organizationId}`);
  });

  it('leaves after a direct send of its organization that comes later', async () => {
    const { app, caller } = test;
    const runId = await begin();
    const addresses = Array.from({ length: 200 }, (_, at) => `user${at}@example.com`);
    await acceptForRun(app, caller, runId, addresses);
    expect(await claim(app, 20)).toEqual(addresses.slice(0, 20));
    await send(app, caller, 'direct@example.com');
    expect(await claim(app, 5)).toContain('direct@example.com');
    expect(await claim(app, 500)).toHaveLength(176);
  });

  it('takes turns with mail of another run', async () => {
    const { app, caller } = test;
    const [first = '', second = ''] = [await begin(), await begin()];
    const addresses = (name: string) =>
      Array.from({ length: 100 }, (_, at) => `${name}${at}@example.com`);
    await acceptForRun(app, caller, first, addresses('first'));
    await acceptForRun(app, caller, second, addresses('second'));
    const departed = await claim(app, 30);
    const seconds = departed.filter((email) => email.startsWith('second')).length;
    // The first run was alone when it got its turns: it leaves twice as often until the second has
    // as many.
    expect(seconds).toBeGreaterThanOrEqual(9);
  });

  it('is ready again after its release', async () => {
    const runId = await begin();
    await sendAs(runId, ['a@example.com', 'b@example.com']);
    await putRun(test.app, runId, 'paused');
    expect(await claim(test.app)).toEqual([]);
    await putRun(test.app, runId, 'running');
    await releaseRun(test.app, runId);
    expect(await claim(test.app)).toEqual(['a@example.com', 'b@example.com']);
  });

  it('waits again if the run is stopped after its release', async () => {
    const runId = await begin();
    await sendAs(runId, ['a@example.com']);
    await putRun(test.app, runId, 'paused');
    await claim(test.app);
    await releaseRun(test.app, runId);
    expect(await claim(test.app)).toEqual([]);
  });

  it('leaves within a day after a release that was lost in a crash', async () => {
    const runId = await begin();
    await sendAs(runId, ['a@example.com']);
    await putRun(test.app, runId, 'held');
    await claim(test.app);
    await putRun(test.app, runId, 'running');
    await test.clock.advance(24 * hourMs);
    expect(await claim(test.app)).toEqual(['a@example.com']);
  });

  it('is counted while it has not ended', async () => {
    const runId = await begin();
    expect(await queuedOfRun(test.app.store.db, runId)).toBe(0);
    await sendAs(runId, ['a@example.com', 'b@example.com']);
    expect(await queuedOfRun(test.app.store.db, runId)).toBe(2);
    await cancel(runId, 1);
    expect(await queuedOfRun(test.app.store.db, runId)).toBe(1);
  });

  it('is counted up to 5,001', async () => {
    const runId = await begin();
    const [id = ''] = await sendAs(runId, ['a@example.com']);
    const { id: _, ...copied } = await rowOf(test.app, id);
    const columns = sql.join(Object.keys(copied).map((name) => sql.ref(name)));
    await test.app.store.write((trx) =>
      sql`insert into deliveries (id, ${columns})
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 5200)
        select 'dlv_' || i, ${columns} from n cross join deliveries where id = ${_}`.execute(trx),
    );
    expect(await queuedOfRun(test.app.store.db, runId)).toBe(5_001);
  });

  it('ends with a cancelled run, up to the limit of a batch', async () => {
    const runId = await begin();
    const ids = await sendAs(runId, ['a@example.com', 'b@example.com', 'c@example.com']);
    const other = await sendAs(await begin(), ['d@example.com']);
    await putRun(test.app, runId, 'cancelled');
    expect(await cancel(runId, 2)).toBe(2);
    expect(await statuses(ids)).toEqual(['failed', 'failed', 'pending']);
    expect(await cancel(runId, 2)).toBe(1);
    expect(await cancel(runId, 2)).toBe(0);
    expect(await statuses([...ids, ...other])).toEqual(['failed', 'failed', 'failed', 'pending']);
    expect(await failed(runId)).toBe(3);
  });

  it('says in its timeline that its run was cancelled', async () => {
    const runId = await begin();
    const [id = ''] = await sendAs(runId, ['a@example.com']);
    await cancel(runId);
    const events = await listMessageEvents(test.app, test.caller, id);
    expect(events.at(-1)).toMatchObject({
      eventType: 'cancelled',
      status: 'failed',
      metadata: { by: 'service', reason: 'Its campaign run was cancelled before it was sent' },
    });
    expect((await rowOf(test.app, id)).error_code).toBe('cancelled');
  });

  it('ends by a claim too, once its run is cancelled', async () => {
    const runId = await begin();
    const [id = ''] = await sendAs(runId, ['a@example.com']);
    await putRun(test.app, runId, 'cancelled');
    expect(await claim(test.app)).toEqual([]);
    expect(await timeline(test.app, test.caller, id)).toEqual([
      'accepted:pending',
      'cancelled:failed',
    ]);
    expect(await failed(runId)).toBe(1);
  });

  it('is left to the attempt that holds it by a cancel', async () => {
    const runId = await begin();
    const [id = ''] = await sendAs(runId, ['a@example.com']);
    await claim(test.app);
    const [later = ''] = await sendAs(runId, ['b@example.com']);
    expect(await cancel(runId, 1)).toBe(1);
    expect((await rowOf(test.app, id)).claimed_by).toBe('wrk_test');
    expect((await rowOf(test.app, later)).error_code).toBe('cancelled');
  });

  it('waits at its scheduled time while the run is paused, and leaves after the resume', async () => {
    const { app, caller, clock } = test;
    const runId = await begin();
    const id = await scheduleAs(runId);
    await putRun(app, runId, 'paused');
    const pipeline = await startPipeline(app);
    try {
      await clock.advance(hourMs);
      await pipeline.idle();
      expect(await rowOf(app, id)).toMatchObject({ status: 'scheduled', lane: `run ${runId}` });
      await putRun(app, runId, 'running');
      await releaseRun(app, runId);
      await clock.advance(1);
      await pipeline.idle();
      expect(await timeline(app, caller, id)).toContain('delivered:delivered');
    } finally {
      await pipeline.close();
    }
  });

  it('ends at its scheduled time if the run is cancelled', async () => {
    const { app, clock } = test;
    const runId = await begin();
    const id = await scheduleAs(runId);
    await putRun(app, runId, 'cancelled');
    const pipeline = await startPipeline(app);
    try {
      await clock.advance(hourMs);
      await pipeline.idle();
      expect(await timeline(app, test.caller, id)).toEqual([
        'scheduled:scheduled',
        'cancelled:failed',
      ]);
      expect(await failed(runId)).toBe(1);
    } finally {
      await pipeline.close();
    }
  });

  it('alone makes a claim read runs', async () => {
    const runId = await begin();
    const queries = watchQueries();
    const asked = async (runIds: readonly string[]) => {
      const { id } = await send(test.app, test.caller, 'a@example.com');
      for (const one of runIds) await giveToRun(test.app, one, [id]);
      queries.take();
      await claim(test.app);
      return queries.take().filter(({ text }) => text.includes('campaign_runs')).length;
    };
    try {
      expect(await asked([])).toBe(0);
      expect(await asked([runId])).toBe(1);
    } finally {
      queries.stop();
    }
  });

  it.runIf(store === 'postgres')(
    'keeps a resume waiting for a claim that found the stop',
    async () => {
      const { app } = test;
      const runId = await begin();
      const [id = ''] = await sendAs(runId, ['a@example.com']);
      await putRun(app, runId, 'paused');
      const row = await rowOf(app, id);
      const order: string[] = [];
      const claiming = await heldWrite(app, (trx) => readStops(trx, [row]));
      const resume = putRun(app, runId, 'running').then(() => order.push('resumed'));
      await someoneWaits(app, 'campaign_runs');
      order.push('claimed');
      await claiming.commit();
      await resume;
      expect(order).toEqual(['claimed', 'resumed']);
    },
  );
});
