// Holds: matching deliveries are not attempted until the release
// (src/outbound/queue/desk/holds.ts).
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findHold, markReleased } from '../../../src/outbound/deliveries/hold-queries.ts';
import { readHolds, scopeOf } from '../../../src/outbound/deliveries/holds-in-force.ts';
import { holdDelivery } from '../../../src/outbound/deliveries/queue-queries.ts';
import { heldBy } from '../../../src/outbound/queue/claiming/stops.ts';
import { holdQueue, listHolds, releaseHold } from '../../../src/outbound/queue/desk/holds.ts';
import {
  countQueueStates,
  dropDeliveries,
  listQueue,
} from '../../../src/outbound/queue/desk/queue.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { ConflictError, ResourceNotFoundError } from '../../../src/platform/errors.ts';
import { bothStores } from '../../support/command.ts';
import {
  firstDelivery,
  payloadFor,
  send,
  startPipeline,
  timeline,
} from '../../support/delivery.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { heldWrite, someoneWaits } from '../messages/fixtures.ts';
import { anotherOrganization, claim, inLane, query, queued, rowOf, waiting } from './entries.ts';

const hourMs = 3_600_000;

describe.each(bothStores)('holds on %s', (store) => {
  let service: TestApp;
  beforeEach(async () => {
    service = await testApp({ store });
  });
  afterEach(() => service.close());

  const states = async () =>
    (await listQueue(service.app, query())).items.map(
      ({ recipient, state }) => `${recipient} ${state}`,
    );

  it('set matching deliveries of every state aside at once and let others go', async () => {
    const { app, caller, clock } = service;
    await queued(app, caller, 'ready@held.example');
    await waiting(app, caller, 'waiting@held.example', clock.now() + hourMs);
    await inLane(app, caller, 'lane@held.example', clock.now() + hourMs);
    await queued(app, caller, 'free@a.example');
    const hold = await holdQueue(app, { domain: 'held.example' }, 'their disk is full');
    expect(hold).toEqual({
      id: expect.stringMatching(/^hold_/),
      organizationId: null,
      domain: 'held.example',
      messageId: null,
      deliveryId: null,
      note: 'their disk is full',
      state: 'active',
      held: 3,
      createdAt: '2026-01-05T12:00:00.000Z',
    });
    expect(await countQueueStates(app)).toMatchObject({
      ready: 1,
      waiting: 0,
      'in-lane': 0,
      held: 3,
    });
    expect(await claim(app)).toEqual(['free@a.example']);
    await clock.advance(50 * hourMs);
    // Leases of the claim above ran out meanwhile.
    expect(await claim(app)).toEqual(['free@a.example']);
    expect(await countQueueStates(app)).toMatchObject({ held: 3 });
  });

  it('hold later deliveries at their turn, new or tried before', async () => {
    const { app, caller, clock } = service;
    await holdQueue(app, { domain: 'held.example' }, null);
    const fresh = await queued(app, caller, 'fresh@held.example');
    const due = await waiting(app, caller, 'due@held.example', clock.now());
    expect(await claim(app)).toEqual([]);
    expect(await states()).toEqual(['fresh@held.example held', 'due@held.example held']);
    for (const row of [fresh, due]) {
      expect(await rowOf(app, row.message_id)).toMatchObject({
        attempt_count: row.attempt_count,
        wait_reason: 'provider-unavailable',
        due_at: clock.now() + 24 * hourMs,
      });
    }
  });

  it('hold an organization in all domains, or its mail to one domain', async () => {
    const { app, caller } = service;
    const acme = await anotherOrganization(app, 'acme');
    const { organizationId } = acme;
    await holdQueue(app, { organizationId, domain: 'b.example' }, null);
    await queued(app, acme, 'one@a.example');
    await queued(app, acme, 'two@b.example');
    await queued(app, caller, 'three@b.example');
    expect(new Set(await claim(app))).toEqual(new Set(['one@a.example', 'three@b.example']));
    await holdQueue(app, { organizationId }, null);
    const { message_id } = await queued(app, acme, 'four@a.example');
    await queued(app, caller, 'five@a.example');
    expect(await claim(app)).toEqual(['five@a.example']);
    expect((await rowOf(app, message_id)).wait_reason).toBe('tenant-health');
    expect(await listHolds(app, organizationId)).toMatchObject([{ held: 1 }, { held: 1 }]);
    expect(await listHolds(app, caller.organizationId)).toEqual([]);
  });

  it('hold one message or one delivery', async () => {
    const { app, caller } = service;
    const { id, deliveries } = await send(app, caller, ['a@a.example', 'b@a.example']);
    const second = deliveries[1]?.id ?? '';
    const onDelivery = await holdQueue(app, { id: second }, null);
    expect(onDelivery).toMatchObject({ deliveryId: second, messageId: null, held: 1 });
    expect(await claim(app)).toEqual(['a@a.example']);
    const other = await send(app, caller, ['c@a.example', 'd@a.example']);
    expect(await holdQueue(app, { id: other.id }, null)).toMatchObject({
      messageId: other.id,
      held: 2,
    });
    expect(await claim(app)).toEqual([]);
    expect((await listHolds(app)).map(({ held }) => held)).toEqual([1, 2]);
    await expect(holdQueue(app, { id: `${id.slice(0, -1)}z` }, null)).rejects.toThrow(
      ResourceNotFoundError,
    );
    await dropDeliveries(app, [other.id]);
    await expect(holdQueue(app, { id: other.id }, null)).rejects.toThrow(ConflictError);
  });

  it('leave scheduled deliveries to their time, also when named by id', async () => {
    const { app, caller, clock } = service;
    const scheduledFor = clock.now() + hourMs;
    const payload = { ...payloadFor('later@a.example'), scheduledFor };
    const { id } = await scheduleMessage(app, caller, payload);
    const hold = await holdQueue(app, { id }, null);
    expect(hold).toMatchObject({ messageId: id, held: 0 });
    const untouched = { status: 'scheduled', due_at: scheduledFor, lane: null, wait_reason: null };
    expect(await rowOf(app, id)).toMatchObject(untouched);
    expect(await releaseHold(app, { holdId: hold.id })).toMatchObject({ released: 0 });
    expect(await rowOf(app, id)).toMatchObject(untouched);
  });

  it('are merged when they hold the same', async () => {
    const { app } = service;
    const first = await holdQueue(app, { domain: 'held.example' }, 'first');
    expect(await holdQueue(app, { domain: 'held.example' }, 'second')).toEqual(first);
    expect(await listHolds(app)).toEqual([first]);
  });

  it('are limited to a thousand', async () => {
    const { app } = service;
    await app.store.write(async (trx) => {
      for (let n = 0; n < 1_000; n++) {
        await sql`insert into queue_holds (id, scope, domain, created_at)
          values (${`hold_${n}`}, ${` d${n}.example  `}, ${`d${n}.example`}, 1)`.execute(trx);
      }
    });
    await expect(holdQueue(app, { domain: 'held.example' }, null)).rejects.toThrow(/1000 holds/);
    await expect(holdQueue(app, { domain: 'd7.example' }, null)).resolves.toMatchObject({
      id: 'hold_7',
    });
  });

  it('return their deliveries at once on release, at fair turns', async () => {
    const { app, caller } = service;
    const acme = await anotherOrganization(app, 'acme');
    await holdQueue(app, { domain: 'held.example' }, null);
    for (let n = 0; n < 20; n++) await queued(app, caller, `crowd${n}@held.example`);
    await queued(app, acme, 'single@held.example');
    expect(await claim(app)).toEqual([]);
    expect(await releaseHold(app, { domain: 'held.example' })).toMatchObject({ released: 21 });
    expect(await listHolds(app)).toEqual([]);
    expect(await claim(app, 2)).toContain('single@held.example');
    expect(await claim(app)).toHaveLength(19);
  });

  it('are released by id or by target, and unknown ones answer 404', async () => {
    const { app, caller } = service;
    const { id, message_id } = await queued(app, caller, 'ada@a.example');
    const hold = await holdQueue(app, { id: message_id }, null);
    await expect(releaseHold(app, { id })).rejects.toThrow(ResourceNotFoundError);
    await expect(releaseHold(app, { domain: 'a.example' })).rejects.toThrow(ResourceNotFoundError);
    expect(await releaseHold(app, { holdId: hold.id })).toEqual({ id: hold.id, released: 1 });
    await expect(releaseHold(app, { holdId: hold.id })).rejects.toThrow(ResourceNotFoundError);
    // The hold and the release.
    const byHand = ['queued:pending', 'queued:pending'];
    expect(await timeline(app, caller, message_id)).toEqual(['accepted:pending', ...byHand]);
    expect(await claim(app)).toEqual(['ada@a.example']);
  });

  it('keep deliveries that another hold still matches after a release', async () => {
    const { app, caller } = service;
    await holdQueue(app, { domain: 'a.example' }, null);
    await holdQueue(app, { organizationId: caller.organizationId }, null);
    await queued(app, caller, 'ada@a.example');
    expect(await claim(app)).toEqual([]);
    await releaseHold(app, { domain: 'a.example' });
    expect(await claim(app)).toEqual([]);
    expect(await states()).toEqual(['ada@a.example held']);
    await releaseHold(app, { organizationId: caller.organizationId });
    expect(await claim(app)).toEqual(['ada@a.example']);
  });

  it('hold nothing more after an interrupted release, which the next release finishes', async () => {
    const { app, caller, clock } = service;
    await queued(app, caller, 'old@held.example');
    const { id } = await holdQueue(app, { domain: 'held.example' }, null);
    await app.store.write((trx) => markReleased(trx, id, clock.now()));
    await queued(app, caller, 'new@held.example');
    expect(await claim(app)).toEqual(['new@held.example']);
    expect(await listHolds(app)).toMatchObject([{ id, state: 'releasing', held: 1 }]);
    await releaseHold(app, { domain: 'held.example' });
    expect(await claim(app)).toEqual(['old@held.example']);
    expect(await listHolds(app)).toEqual([]);
  });

  it('end no attempt under way', async () => {
    const { app, caller } = service;
    const { message_id } = await queued(app, caller, 'ada@held.example');
    await claim(app);
    expect(await holdQueue(app, { domain: 'held.example' }, null)).toMatchObject({ held: 0 });
    expect(await rowOf(app, message_id)).toMatchObject({ claimed_by: 'wrk_test', lane: null });
  });

  it('of other processes are obeyed by a running daemon', async () => {
    await service.close();
    const sink = await startSmtpSink();
    const relay = { mode: 'relay' as const, relay: { host: sink.host, port: sink.port } };
    service = await testApp({ store, config: { delivery: relay } });
    const { app, caller, another: process } = service;
    const pipeline = await startPipeline(app);
    const operator = await process();
    try {
      await holdQueue(operator, { domain: 'held.example' }, null);
      const held = await send(app, caller, 'ada@held.example');
      await send(app, caller, 'bob@a.example');
      await sink.waitFor(1);
      await pipeline.idle();
      expect(sink.messages.flatMap(({ recipients }) => recipients)).toEqual(['bob@a.example']);
      expect(await firstDelivery(app, caller, held.id)).toMatchObject({
        status: 'pending',
        attemptCount: 0,
        scheduling: { waitReason: 'provider-unavailable' },
      });
      await service.clock.advance(100 * hourMs);
      await pipeline.idle();
      expect(sink.received).toBe(1);
      await releaseHold(operator, { domain: 'held.example' });
      await sink.waitFor(2);
      await pipeline.idle();
      // Older than the limit for retries: the delivery still had its attempt.
      expect((await firstDelivery(app, caller, held.id)).status).toBe('sent');
    } finally {
      await pipeline.close();
      await sink.close();
    }
  });
});

describe('a hold released while it sets deliveries aside', () => {
  it('sets no more aside', async () => {
    const { app, caller, clock, close } = await testApp();
    try {
      await waiting(app, caller, 'first@held.example', clock.now() + hourMs);
      await queued(app, caller, 'second@held.example');
      let released = Promise.resolve();
      const named = { domain: 'held.example', message_id: null, delivery_id: null };
      const scope = scopeOf({ organization_id: null, ...named });
      // Queued before the next half of the work, because writes run one after the other.
      const release = () => {
        released = app.store.write(async (trx) => {
          const { id = '' } = (await findHold(trx, 'scope', scope)) ?? {};
          await markReleased(trx, id, clock.now());
        });
      };
      const hold = await holdQueue(app, { domain: 'held.example' }, null, release);
      await released;
      expect(hold.held).toBe(1);
      expect(await claim(app)).toEqual(['second@held.example']);
    } finally {
      await close();
    }
  });
});

describe('holds on two daemons of one postgres', () => {
  it('are released after a claim that sets deliveries aside, without missing any', async () => {
    const service = await testApp({ store: 'postgres' });
    try {
      const { app, caller } = service;
      const { id } = await holdQueue(app, { domain: 'held.example' }, null);
      const row = await queued(app, caller, 'ada@held.example');
      const theirs = await heldWrite(await service.another(), async (trx) => {
        const hold = (await readHolds(trx)).of(row);
        if (hold) await holdDelivery(trx, heldBy(hold, row.id, app.clock.now()));
      });
      const ours = releaseHold(app, { holdId: id });
      await someoneWaits(app, 'queue_holds');
      await theirs.commit();
      expect(await ours).toEqual({ id, released: 1 });
      expect(await findHold(app.store.db, 'id', id)).toBeUndefined();
      expect(await claim(app)).toEqual(['ada@held.example']);
    } finally {
      await service.close();
    }
  });
});
