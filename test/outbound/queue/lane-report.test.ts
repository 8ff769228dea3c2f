// Data of `svc queue top`: the lanes that daemons report, added up (src/outbound/queue/lanes/lane-report.ts).
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import { queueSnapshot, startLaneReport } from '../../../src/outbound/queue/lanes/lane-report.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import { stores, type TestApp, testApp } from '../../support/test-app.ts';
import { watchWrites } from '../../support/watched-writes.ts';
import { inLane } from './entries.ts';

describe.each(stores)('the report of lanes on %s', (store) => {
  let service: TestApp;
  let stops: (() => Promise<void>)[];
  let settling: (() => Promise<void>)[];
  beforeEach(async () => {
    service = await testApp({ store });
    stops = [];
    settling = [];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    await service.close();
  });

  /** Makes the lanes of a reporting daemon. */
  function daemon(worker = 'wrk_1', app: App = service.app): Lanes {
    const lanes = new Lanes(app.clock, app.random, loadProviders(null, 10));
    settling.push(watchWrites(app.store));
    stops.push(startLaneReport(app, worker, lanes));
    return lanes;
  }

  /** Advances by a second, after which every daemon has reported. */
  async function passSecond(): Promise<void> {
    const { app, clock } = service;
    for (const settled of settling) await settled();
    await clock.advance(1_000);
    for (const settled of settling) await settled();
    const { rows } = await sql<{ n: number }>`select count(*) as n from lane_states
      where reported_at = ${clock.now()}`.execute(app.store.db);
    expect(Number(rows[0]?.n)).toBe(stops.length);
  }

  function take(lanes: Lanes, lane: string, count: number): void {
    for (let n = 0; n < count; n++) {
      lanes.begun(lane, `dlv_${n}`);
      lanes.ended(lane, `dlv_${n}`, 'taken');
    }
  }

  const snapshot = () => queueSnapshot(service.app);
  const reports = async () =>
    Number(
      (
        await sql<{ n: number }>`select count(*) as n from lane_states`.execute(
          service.app.store.db,
        )
      ).rows[0]?.n,
    );

  it('shows the deliveries in flight, the window, and the rate of accepted mail', async () => {
    const lanes = daemon();
    lanes.begun('domain a.example', 'dlv_x');
    await passSecond();
    take(lanes, 'domain a.example', 7);
    expect((await snapshot()).lanes).toHaveLength(1);
    await passSecond();
    await inLane(service.app, service.caller, 'ada@a.example', 0, 'domain a.example');
    expect(await snapshot()).toEqual({
      at: '2026-01-05T12:00:02.000Z',
      counts: { ready: 0, waiting: 0, 'in-lane': 1, held: 0, claimed: 0 },
      countedUpTo: 100_000,
      workers: 1,
      idleWorkers: 0,
      takenPerSecond: 7,
      pace: [0, 7],
      lanes: [
        {
          lane: 'domain a.example',
          inFlight: 1,
          window: 15,
          perMinute: null,
          waiting: 1,
          takenPerSecond: 7,
          pace: [0, 7],
          closedUntil: null,
        },
      ],
    });
  });

  it('adds up the daemons of one store', async () => {
    const [one, two] = [daemon('wrk_1'), daemon('wrk_2', await service.another())];
    for (const lanes of [one, two]) lanes.begun('google', 'dlv_x');
    await passSecond();
    take(one, 'google', 3);
    take(two, 'google', 4);
    two.begun('domain b.example', 'dlv_y');
    await passSecond();
    const { workers, lanes, takenPerSecond } = await snapshot();
    expect([workers, takenPerSecond]).toEqual([2, 7]);
    expect(lanes).toMatchObject([
      { lane: 'google', inFlight: 2, takenPerSecond: 7 },
      { lane: 'domain b.example', inFlight: 1 },
    ]);
  });

  it('shows the end of a closure', async () => {
    const lanes = daemon();
    lanes.begun('domain a.example', 'dlv_x');
    for (const id of ['dlv_x', 'dlv_y', 'dlv_z']) lanes.ended('domain a.example', id, 'slowed');
    await service.clock.advance(2_000);
    // The first pause lasts about a second, the next one twice as long.
    lanes.ended('domain a.example', 'dlv_w', 'slowed');
    const closedUntil = lanes.states()[0]?.closedUntil ?? 0;
    expect(closedUntil).toBeGreaterThan(service.clock.now());
    await passSecond();
    const closed = new Date(closedUntil).toISOString();
    expect((await snapshot()).lanes).toMatchObject([{ closedUntil: closed }]);
  });

  it('counts an idle daemon, which reports every 30 seconds', async () => {
    daemon();
    await passSecond();
    const reportedAt = service.clock.now();
    await service.clock.advance(29_000);
    const { rows } = await sql<{ at: number }>`select reported_at as at from lane_states`.execute(
      service.app.store.db,
    );
    expect(rows).toEqual([{ at: reportedAt }]);
    expect(await snapshot()).toMatchObject({ workers: 1, idleWorkers: 1, lanes: [] });
    await passSecond();
  });

  it('drops a quiet lane', async () => {
    const lanes = daemon();
    await passSecond();
    take(lanes, 'domain a.example', 2);
    await passSecond();
    expect((await snapshot()).lanes).toHaveLength(1);
    for (let n = 0; n < 19; n++) await passSecond();
    expect((await snapshot()).lanes).toMatchObject([{ takenPerSecond: 0 }]);
    await passSecond();
    expect((await snapshot()).lanes).toEqual([]);
    const reportedAt = service.clock.now();
    await service.clock.advance(5_000);
    const { rows } = await sql<{ at: number }>`select reported_at as at from lane_states`.execute(
      service.app.store.db,
    );
    expect(rows).toEqual([{ at: reportedAt }]);
  });

  it('skips dead daemons and deletes their rows', async () => {
    await service.app.store.write((trx) =>
      sql`insert into lane_states (worker, reported_at, lanes) values ('wrk_dead',
        ${service.clock.now() - 9_000}, '[{"lane":"old","inFlight":1,"window":8,"perMinute":60,
        "closedUntil":null,"pace":[1]}]')`.execute(trx),
    );
    expect((await snapshot()).lanes).toMatchObject([{ lane: 'old', perMinute: 60 }]);
    const lanes = daemon();
    lanes.begun('google', 'dlv_x');
    await passSecond();
    await passSecond();
    expect(await snapshot()).toMatchObject({ workers: 1, lanes: [{ lane: 'google' }] });
    await service.clock.advance(75_000);
    await passSecond();
    expect(await reports()).toBe(1);
  });

  it('ends with its daemon', async () => {
    const lanes = daemon();
    lanes.begun('google', 'dlv_x');
    await passSecond();
    expect(await reports()).toBe(1);
    await stops.pop()?.();
    expect(await reports()).toBe(0);
    expect((await snapshot()).workers).toBe(0);
  });
});
