// The gauges of the queue in /metrics: the count of queued deliveries, by cause and by age, with
// bounded labels.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startQueueGauges } from '../../../src/outbound/queue/queue-gauges.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { claim, inLane, queued, waiting } from './entries.ts';

describe.each(stores)('the gauges of the queue on %s', (store) => {
  let test: TestApp;
  let stop: () => Promise<void>;
  beforeEach(async () => {
    test = await testApp({ store });
    stop = async () => {};
  });
  afterEach(async () => {
    await stop();
    await test.close();
  });

  /** Reads the values of a gauge by label, without zeros. */
  async function shown(name: string): Promise<Record<string, number>> {
    const text = await test.app.metrics.registry.metrics();
    const lines = text.matchAll(new RegExp(`^${name}\\{\\w+="([^"]*)"\\} (\\S+)$`, 'gm'));
    const all = [...lines].map(([, label = '', value]) => [label, Number(value)] as const);
    return Object.fromEntries(all.filter(([, value]) => value !== 0));
  }
  const count = async () => Object.values(await shown('svc_queue_deliveries'));
  const until = (look: () => Promise<void>) => vi.waitFor(look, { timeout: 5_000, interval: 5 });

  it('give count and highest age by reason and by kind of lane', async () => {
    const { app, caller, clock } = test;
    await waiting(app, caller, 'ada@a.example', clock.now() + 100_000);
    await clock.advance(30_000);
    await waiting(app, caller, 'bob@a.example', clock.now() + 60_000);
    await waiting(app, caller, 'ann@a.example', clock.now() + 80_000);
    await waiting(app, caller, 'cy@a.example', clock.now() + 60_000, 'daily-quota');
    const soon = clock.now() + 60_000;
    await inLane(app, caller, 'dot@a.example', soon, 'mx mx.a.example 25');
    await inLane(app, caller, 'eve@b.example', soon, 'mx mx.b.example 25');
    await inLane(app, caller, 'flo@gmail.com', soon, 'google');
    await queued(app, caller, 'gus@a.example');
    expect(await claim(app, 1)).toEqual(['gus@a.example']);
    await clock.advance(12_000);
    await queued(app, caller, 'hal@a.example');
    stop = startQueueGauges(app);
    await until(async () => expect((await count()).length).toBeGreaterThan(0));
    expect(await shown('svc_queue_deliveries')).toEqual({
      ready: 1,
      rate: 3,
      retry: 3,
      'daily-quota': 1,
    });
    expect(await shown('svc_queue_oldest_seconds')).toEqual({
      rate: 12,
      retry: 42,
      'daily-quota': 12,
    });
    expect(await shown('svc_queue_lane_deliveries')).toEqual({ mx: 2, google: 1 });
    expect(await shown('svc_queue_lane_oldest_seconds')).toEqual({ mx: 12, google: 12 });
  });

  it('measure the age of scheduled deliveries from their time, and list every reason from the start', async () => {
    const { app, caller, clock } = test;
    const { id } = await waiting(app, caller, 'ada@a.example', clock.now() + 60_000);
    await app.store.write((trx) =>
      sql`update deliveries set status = 'scheduled', wait_reason = null where id = ${id}`.execute(
        trx,
      ),
    );
    await clock.advance(50_000);
    stop = startQueueGauges(app);
    await until(async () => expect(await shown('svc_queue_deliveries')).toEqual({ scheduled: 1 }));
    expect(await shown('svc_queue_oldest_seconds')).toEqual({});
    const text = await app.metrics.registry.metrics();
    expect(text).toContain('svc_queue_deliveries{reason="provider-unavailable"} 0');
    await stop();
    await clock.advance(15_000);
    stop = startQueueGauges(app);
    await until(async () =>
      expect(await shown('svc_queue_oldest_seconds')).toEqual({ scheduled: 5 }),
    );
  });

  it('are read every ten seconds, independently of requests', async () => {
    const { app, caller, clock } = test;
    stop = startQueueGauges(app);
    await clock.advance(0);
    await until(async () =>
      expect(await app.metrics.registry.metrics()).toContain('{reason="ready"} 0'),
    );
    await queued(app, caller, 'ada@a.example');
    await clock.advance(9_999);
    expect(await shown('svc_queue_deliveries')).toEqual({});
    await clock.advance(1);
    await until(async () => expect(await shown('svc_queue_deliveries')).toEqual({ ready: 1 }));
  });

  it('count every page once, also at one due time, up to their limit', async () => {
    const { app, caller, clock } = test;
    const { id } = await inLane(app, caller, 'ada@a.example', clock.now(), 'relay one:25');
    await app.store.write((trx) =>
      sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 4999)
        insert into deliveries (id, message_id, recipient_id, organization_id, sender_domain,
          email, domain, lane, status, attempt_count, max_attempts, due_at, wait_reason,
          expires_at, created_at, updated_at)
        select id || i, message_id, recipient_id, organization_id, sender_domain, email, domain,
          case when i <= 30 then 'kind' || i else 'mx ' || i end, status, 0, 10,
          due_at + case when i < 100 then 0 else 5 end, wait_reason, expires_at, created_at, 0
        from deliveries, n where id = ${id}`.execute(trx),
    );
    stop = startQueueGauges(app, 4_500);
    await until(async () => {
      await clock.advance(1);
      expect(await count()).toEqual([4_500]);
    });
    await stop();
    stop = startQueueGauges(app);
    await until(async () => {
      await clock.advance(1);
      expect(await count()).toEqual([5_000]);
    });
    const lanes = await shown('svc_queue_lane_deliveries');
    expect(Object.keys(lanes)).toHaveLength(21);
    expect(lanes).toMatchObject({ mx: 4_969, other: 12 });
  });
});

describe('the gauges of an unreadable queue', () => {
  const test = eachApp();

  it('keep their values and log the failure until the next read succeeds', async () => {
    const { app, caller, clock } = test;
    const warn = vi.spyOn(app.log, 'warn');
    await queued(app, caller, 'ada@a.example');
    const rename = (from: string, to: string) =>
      app.store.write((trx) =>
        sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(trx),
      );
    await rename('deliveries', 'gone');
    const stop = startQueueGauges(app);
    await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
    await rename('gone', 'deliveries');
    await clock.advance(10_000);
    await vi.waitFor(async () =>
      expect(await app.metrics.registry.metrics()).toContain('{reason="ready"} 1'),
    );
    await stop();
  });
});
