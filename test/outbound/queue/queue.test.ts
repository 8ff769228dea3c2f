// The operator's view of the queue: list, show, retry, flush, drop. Claims are those of a daemon.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { getMessage, listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { holdQueue } from '../../../src/outbound/queue/desk/holds.ts';
import {
  countQueueStates,
  dropDeliveries,
  flushQueue,
  listQueue,
  retryDeliveries,
  showQueueEntries,
} from '../../../src/outbound/queue/desk/queue.ts';
import { ConflictError, ResourceNotFoundError } from '../../../src/platform/errors.ts';
import { stores } from '../../support/command.ts';
import { send, timeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { anotherOrganization, claim, inLane, query, queued, rowOf, waiting } from './entries.ts';

const hourMs = 3_600_000;

describe.each(stores)('the queue on %s', (store) => {
  let service: TestApp;
  beforeEach(async () => {
    service = await testApp({ store });
  });
  afterEach(() => service.close());

  const emails = async (more: Parameters<typeof query>[0] = {}) =>
    (await listQueue(service.app, query(more))).items.map(({ recipient }) => recipient);
  const later = (hours: number) => service.clock.now() + hours * hourMs;

  /** Makes one entry in each state, in the order of the list. */
  async function oneOfEach() {
    const { app, caller } = service;
    const claimed = await queued(app, caller, 'claimed@a.example');
    await claim(app, 1, 'wrk_7');
    const held = await queued(app, caller, 'held@b.example');
    const hold = await holdQueue(app, { id: held.id }, null);
    const ready = await queued(app, caller, 'ready@a.example');
    const retried = await waiting(app, caller, 'waiting@a.example', later(1));
    const laned = await inLane(app, caller, 'lane@b.example', later(2));
    return { claimed, held, hold, ready, retried, laned };
  }

  describe('list', () => {
    it('shows the next deliveries first, with each state and all counts', async () => {
      const { hold, ready, retried } = await oneOfEach();
      const { items, pagination, counts } = await listQueue(service.app, query());
      expect(items.map(({ recipient, state }) => [recipient, state])).toEqual([
        ['ready@a.example', 'ready'],
        ['claimed@a.example', 'claimed'],
        ['waiting@a.example', 'waiting'],
        ['lane@b.example', 'in-lane'],
        ['held@b.example', 'held'],
      ]);
      expect(counts).toEqual({ ready: 1, waiting: 1, 'in-lane': 1, held: 1, claimed: 1 });
      expect(pagination).toEqual({ page: 1, limit: 100, total: 5, totalPages: 1 });
      expect(items[0]).toMatchObject({ id: ready.id, lane: null, holdId: null, waitReason: null });
      expect(items[1]).toMatchObject({ claimedBy: 'wrk_7', dueAt: '2026-01-05T12:00:00.000Z' });
      expect(items[2]).toMatchObject({
        id: retried.id,
        messageId: retried.message_id,
        organizationId: service.caller.organizationId,
        waitReason: 'retry',
        dueAt: '2026-01-05T13:00:00.000Z',
        attemptCount: 1,
        lastWords: 'RCPT: 452 4.2.2 Mailbox full',
      });
      expect(items[3]).toMatchObject({ lane: 'google', waitReason: 'rate' });
      expect(items[4]).toMatchObject({ lane: null, holdId: hold.id });
    });

    it('filters by state, reason, domain, lane and organization', async () => {
      await oneOfEach();
      const acme = await anotherOrganization(service.app, 'acme');
      await queued(service.app, acme, 'theirs@a.example');
      for (const state of ['claimed', 'waiting', 'held'] as const) {
        expect(await emails({ state })).toEqual([expect.stringMatching(`^${state}@`)]);
      }
      expect(await emails({ state: 'in-lane' })).toEqual(['lane@b.example']);
      expect(await emails({ state: 'ready' })).toEqual(['ready@a.example', 'theirs@a.example']);
      expect(await emails({ waitReason: 'retry' })).toEqual(['waiting@a.example']);
      expect(await emails({ domain: 'b.example' })).toEqual(['lane@b.example', 'held@b.example']);
      expect(await emails({ lane: 'google' })).toEqual(['lane@b.example']);
      expect(await emails({ organizationId: acme.organizationId })).toEqual(['theirs@a.example']);
      expect(await emails({ organizationId: acme.organizationId, waitReason: 'rate' })).toEqual([]);
    });

    it('pages across ready and waiting deliveries', async () => {
      await oneOfEach();
      const pages = await Promise.all([1, 2, 3].map((page) => emails({ page, limit: 2 })));
      expect(pages.flat()).toEqual(await emails());
      expect(pages.map((page) => page.length)).toEqual([2, 2, 1]);
      const last = await listQueue(service.app, query({ page: 4, limit: 2 }));
      expect(last).toMatchObject({ items: [], pagination: { total: 5, totalPages: 3 } });
    });

    it('leaves out ended deliveries', async () => {
      const { id } = await queued(service.app, service.caller, 'ada@a.example');
      await dropDeliveries(service.app, [id]);
      expect(await emails()).toEqual([]);
    });
  });

  describe('show', () => {
    it("finds a delivery by its id and all of a message by the message's id, also ended ones", async () => {
      const { app, caller } = service;
      const { id } = await send(app, caller, ['a@a.example', 'b@a.example']);
      const entries = await showQueueEntries(app, id);
      expect(entries.map(({ recipient }) => recipient)).toEqual(['a@a.example', 'b@a.example']);
      const [first] = entries;
      await dropDeliveries(app, [first?.id ?? '']);
      expect(await showQueueEntries(app, first?.id ?? '')).toMatchObject([
        { state: 'ended', status: 'failed', errorCode: 'cancelled', dueAt: null, attempts: [] },
      ]);
    });

    it('finds nothing of another organization', async () => {
      const { app, caller } = service;
      const { id } = await queued(app, caller, 'ada@a.example');
      const acme = await anotherOrganization(app, 'acme');
      await expect(showQueueEntries(app, id, acme.organizationId)).rejects.toThrow(
        new ResourceNotFoundError('delivery', id),
      );
      await expect(showQueueEntries(app, 'msg_0123456789abcdefghjkmnpq')).rejects.toThrow(
        ResourceNotFoundError,
      );
    });
  });

  describe('retry', () => {
    it('makes waiting deliveries ready now and adds it to the timeline', async () => {
      const { app, caller } = service;
      const retried = await waiting(app, caller, 'waiting@a.example', later(5));
      const laned = await inLane(app, caller, 'lane@a.example', later(5));
      expect(await claim(app)).toEqual([]);
      const entries = await retryDeliveries(app, [retried.id, laned.message_id]);
      expect(entries).toMatchObject([
        { recipient: 'waiting@a.example', state: 'ready', waitReason: null },
        {
          recipient: 'lane@a.example',
          state: 'ready',
          lane: null,
          dueAt: '2026-01-05T12:00:00.000Z',
        },
      ]);
      const events = await listMessageEvents(app, caller, retried.message_id);
      expect(events.at(-1)).toMatchObject({
        eventType: 'queued',
        status: 'pending',
        metadata: {
          recipient: 'waiting@a.example',
          deliveryId: retried.id,
          by: 'operator',
          action: 'retry',
        },
      });
      expect(new Set(await claim(app))).toEqual(new Set(['lane@a.example', 'waiting@a.example']));
    });

    it('leaves ready and claimed deliveries alone, also when repeated', async () => {
      const { app } = service;
      const { ready, claimed } = await oneOfEach();
      for (const _ of [1, 2]) {
        expect(await retryDeliveries(app, [ready.id, claimed.id])).toMatchObject([
          { recipient: 'claimed@a.example', state: 'claimed', claimedBy: 'wrk_7' },
          { recipient: 'ready@a.example', state: 'ready' },
        ]);
      }
      expect((await rowOf(app, ready.message_id)).turn).toBe(ready.turn);
      expect(await timeline(app, service.caller, ready.message_id)).toEqual(['accepted:pending']);
    });

    it.each(['ended', 'held', 'scheduled'] as const)(
      'answers a conflict for one that is %s, and changes no other',
      async (which) => {
        const { app, caller } = service;
        const { retried, held } = await oneOfEach();
        const scheduled = await waiting(app, caller, 'scheduled@a.example', later(3));
        await app.store.write((trx) =>
          sql`update deliveries set status = 'scheduled', wait_reason = null
            where id = ${scheduled.id}`.execute(trx),
        );
        const ended = await queued(app, caller, 'ended@a.example');
        await dropDeliveries(app, [ended.id]);
        const { id } = { ended, held, scheduled }[which];
        await expect(retryDeliveries(app, [retried.id, id])).rejects.toThrow(ConflictError);
        expect(await emails({ state: 'waiting' })).toContain('waiting@a.example');
      },
    );

    it('answers a conflict for a waiting one that a hold will stop', async () => {
      const { app, caller } = service;
      await holdQueue(app, { domain: 'a.example' }, null);
      const retried = await waiting(app, caller, 'waiting@a.example', later(1));
      await expect(retryDeliveries(app, [retried.id])).rejects.toThrow(/is held by hold_/);
    });
  });

  describe('flush', () => {
    it('makes waiting deliveries ready, but no held, claimed or scheduled ones', async () => {
      const { app, caller } = service;
      await oneOfEach();
      const scheduled = await waiting(app, caller, 'scheduled@a.example', later(3));
      await app.store.write((trx) =>
        sql`update deliveries set status = 'scheduled' where id = ${scheduled.id}`.execute(trx),
      );
      expect(await flushQueue(app, {})).toEqual({ flushed: 2 });
      expect(await countQueueStates(app)).toEqual({
        ready: 3,
        waiting: 1,
        'in-lane': 0,
        held: 1,
        claimed: 1,
      });
      expect(await flushQueue(app, {})).toEqual({ flushed: 0 });
    });

    it('can be limited to a domain or an organization', async () => {
      const { app, caller } = service;
      const acme = await anotherOrganization(app, 'acme');
      await waiting(app, caller, 'x@a.example', later(1));
      await waiting(app, caller, 'x@b.example', later(1));
      await waiting(app, acme, 'y@a.example', later(1));
      expect(await flushQueue(app, { domain: 'b.example' })).toEqual({ flushed: 1 });
      const { organizationId } = acme;
      expect(await flushQueue(app, { organizationId, domain: 'b.example' })).toEqual({
        flushed: 0,
      });
      expect(await flushQueue(app, { organizationId })).toEqual({ flushed: 1 });
      expect(await emails({ state: 'waiting' })).toEqual(['x@a.example']);
    });

    it('keeps fair turns between one message and a crowd', async () => {
      const { app, caller } = service;
      const acme = await anotherOrganization(app, 'acme');
      for (let n = 0; n < 30; n++) await waiting(app, caller, `crowd${n}@a.example`, later(1));
      await waiting(app, acme, 'single@b.example', later(2));
      await flushQueue(app, {});
      expect(await claim(app, 2)).toContain('single@b.example');
    });

    it('passes a long queue once, in batches, with progress', async () => {
      const { app, caller } = service;
      const recipients = Array.from({ length: 45 }, (_, n) => `r${n}@a.example`);
      for (let n = 0; n < 10; n++) await send(app, caller, recipients);
      await app.store.write((trx) =>
        sql`update deliveries set turn = null, wait_reason = 'retry', due_at = ${later(1)}`.execute(
          trx,
        ),
      );
      const told: number[] = [];
      expect(await flushQueue(app, {}, (changed) => told.push(changed))).toEqual({ flushed: 450 });
      expect(told).toEqual([200, 400, 450]);
      expect(await countQueueStates(app)).toMatchObject({ ready: 450, waiting: 0 });
    });
  });

  describe('drop', () => {
    it('ends a waiting delivery as failed and cancelled for good', async () => {
      const { app, caller } = service;
      const { retried } = await oneOfEach();
      expect(await dropDeliveries(app, [retried.id])).toMatchObject([
        { state: 'ended', status: 'failed', errorCode: 'cancelled', waitReason: null },
      ]);
      expect(await getMessage(app, caller, retried.message_id)).toMatchObject({
        status: 'failed',
        deliveries: [{ failedAt: '2026-01-05T12:00:00.000Z', scheduling: null }],
      });
      const events = await listMessageEvents(app, caller, retried.message_id);
      expect(events.at(-1)).toMatchObject({
        eventType: 'cancelled',
        status: 'failed',
        metadata: { deliveryId: retried.id, by: 'operator', action: 'drop' },
      });
      await service.clock.advance(2 * hourMs);
      expect(await claim(app)).not.toContain('waiting@a.example');
    });

    it('takes ready, held and lane entries alike', async () => {
      const { app } = service;
      const { ready, held, laned } = await oneOfEach();
      await dropDeliveries(app, [ready.id, held.message_id, laned.id]);
      expect(await countQueueStates(app)).toEqual({
        ready: 0,
        waiting: 1,
        'in-lane': 0,
        held: 0,
        claimed: 1,
      });
    });

    it('of one recipient leaves the message to the others', async () => {
      const { app, caller } = service;
      const { id, deliveries } = await send(app, caller, ['a@a.example', 'b@a.example']);
      await dropDeliveries(app, [deliveries[0]?.id ?? '']);
      expect((await getMessage(app, caller, id)).status).toBe('pending');
      expect(await claim(app)).toEqual(['b@a.example']);
      await expect(dropDeliveries(app, [id])).rejects.toThrow(/is being attempted now/);
    });

    it('answers a conflict for an attempt under way, then for its whole message', async () => {
      const { app, caller } = service;
      const { id, deliveries } = await send(app, caller, ['a@a.example', 'b@a.example']);
      await claim(app, 1);
      await expect(dropDeliveries(app, [id])).rejects.toThrow(ConflictError);
      expect((await getMessage(app, caller, id)).deliveries.map(({ status }) => status)).toEqual([
        'processing',
        'pending',
      ]);
      await expect(dropDeliveries(app, [deliveries[0]?.id ?? ''])).rejects.toThrow(ConflictError);
    });

    it('has no further effect when repeated, and is a conflict after another end', async () => {
      const { app, caller } = service;
      const { id, message_id } = await queued(app, caller, 'ada@a.example');
      await dropDeliveries(app, [id]);
      const events = await timeline(app, caller, message_id);
      expect(await dropDeliveries(app, [id, message_id])).toMatchObject([{ id, state: 'ended' }]);
      expect(await timeline(app, caller, message_id)).toEqual(events);
      const bounced = await queued(app, caller, 'bob@a.example');
      await app.store.write((trx) =>
        sql`update deliveries set status = 'bounced', due_at = null, turn = null,
          error_code = 'blocked' where id = ${bounced.id}`.execute(trx),
      );
      await expect(dropDeliveries(app, [bounced.id])).rejects.toThrow(/is bounced/);
    });

    it('of an unknown delivery changes none of the others', async () => {
      const { app, caller } = service;
      const { id } = await queued(app, caller, 'ada@a.example');
      const unknown = 'dlv_0123456789abcdefghjkmnpq';
      await expect(dropDeliveries(app, [id, unknown])).rejects.toThrow(ResourceNotFoundError);
      expect(await countQueueStates(app)).toMatchObject({ ready: 1 });
    });
  });
});
