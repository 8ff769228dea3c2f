// During a burst of sends, deliveries give way to it: a batch each 100 ms, until the oldest one has
// waited for 10 s.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stores } from '../../support/command.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

describe.each(stores)('deliveries during a burst of sends, on %s', (store) => {
  let service: TestApp;
  let pipeline: RunningPipeline;
  beforeEach(async () => {
    service = await testApp({ store, config: { delivery: { mode: 'capture' } } });
  });
  afterEach(async () => {
    await pipeline.close();
    await service.close();
  });

  const burst = (sends: number) =>
    Promise.all(
      Array.from({ length: sends }, (_, i) => send(service.app, service.caller, `u${i}@a.example`)),
    );

  async function delivered(): Promise<number> {
    await pipeline.idle();
    const { rows } = await sql<{ n: number }>`select count(*) as n from deliveries
      where status = 'delivered'`.execute(service.app.store.db);
    return Number(rows[0]?.n);
  }

  it('go in one batch per 100 ms, and all after the burst', async () => {
    pipeline = await startPipeline(service.app);
    await burst(250);
    const first = await delivered();
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(100);
    for (let waitedMs = 25; waitedMs < 100; waitedMs += 25) {
      await service.clock.advance(25);
      await burst(16);
      expect(await delivered()).toBe(first);
    }
    await service.clock.advance(25);
    const second = await delivered();
    expect(second).toBeGreaterThan(first);
    expect(second).toBeLessThanOrEqual(first + 100);
    await service.clock.advance(50);
    expect(await delivered()).toBe(250 + 3 * 16);
  });

  it('are not slowed by a few sends at once', async () => {
    pipeline = await startPipeline(service.app);
    for (let sent = 15; sent <= 45; sent += 15) {
      await burst(15);
      expect(await delivered()).toBe(sent);
    }
  });

  it('are not slowed once they have waited for 10 s', async () => {
    await burst(250);
    await service.clock.advance(10_100);
    pipeline = await startPipeline(service.app);
    await burst(16);
    expect(await delivered()).toBe(266);
  });
});
