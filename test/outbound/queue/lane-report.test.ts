// Data of `svc queue top`: the lanes that daemons report, added up
// (src/outbound/queue/lanes/lane-report.ts).
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import type { LaneSignal } from '../../../src/outbound/queue/lanes/lane.ts';
import { queueSnapshot, startLaneReport } from '../../../src/outbound/queue/lanes/lane-report.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import type { Portion } from '../../../src/platform/runtime/fairness/portion.ts';
import { bothStores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { watchWrites } from '../../support/watched-writes.ts';
import { inLane } from './entries.ts';

describe.each(bothStores)('the report of lanes on %s', (store) => {
  let service: TestApp;
  let stops: (() => Promise<void>)[];
  let settling: (() => Promise<void>)[];
  /** The last portion of each daemon. */
  let divided: Map<string, Portion>;
  beforeEach(async () => {
    service = await testApp({ store });
    stops = [];
    settling = [];
    divided = new Map();
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    await service.close();
  });

  /** Makes the lanes of a reporting daemon. */
  function daemon(worker = 'wrk_1', app: App = service.app): Lanes {
    const lanes = new Lanes(app.clock, app.random, loadProviders(null, 10));
    settling.push(watchWrites(app.store));
    const divide = (portion: Portion) => void divided.set(worker, portion);
    stops.push(startLaneReport(app, worker, { choice: { lanes }, divide }));
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

  /** Lets attempts be refused until the lane closes. Returns the end of its pause. */
  function refuse(lanes: Lanes, lane: string, signal: LaneSignal = 'slowed'): number {
    for (let n = 0; n < 20; n++) {
      const state = lanes.states().find((one) => one.lane === lane);
      if (state?.closedUntil) return state.closedUntil;
      lanes.begun(lane, `dlv_${n}`);
      lanes.ended(lane, `dlv_${n}`, signal);
    }
    throw new Error('twenty refusals do not close a lane');
  }

  it.runIf(store === 'postgres')(
    'makes a lane slower in every daemon, once for each limit',
    async () => {
      const [one, two] = [daemon('wrk_1'), daemon('wrk_2', await service.another())];
      const lane = 'domain a.example';
      const windowOf = (lanes: Lanes) =>
        lanes.states().find((state) => state.lane === lane)?.window;
      for (const lanes of [one, two]) {
        lanes.begun(lane, 'dlv_a');
        lanes.begun(lane, 'dlv_b');
      }
      await passSecond();
      await passSecond();
      expect([windowOf(one), windowOf(two)]).toEqual([8, 8]);
      one.ended(lane, 'dlv_a', 'slowed');
      for (let n = 0; n < 4; n++) await passSecond();
      expect([windowOf(one), windowOf(two)]).toEqual([4, 4]);
      two.ended(lane, 'dlv_a', 'slowed');
      for (let n = 0; n < 4; n++) await passSecond();
      expect([windowOf(one), windowOf(two)]).toEqual([2, 2]);
    },
  );

  it.runIf(store === 'postgres')('lets every daemon take mail that waits for a lane', async () => {
    const [one, two] = [daemon('wrk_1'), daemon('wrk_2', await service.another())];
    for (const lanes of [one, two]) lanes.begun('domain c.example', 'dlv_c');
    const lane = 'domain a.example';
    for (let n = 0; n < 8; n++) one.begun(lane, `dlv_${n}`);
    expect(one.admit(lane, 'org_1').goes).toBe(false);
    for (let n = 0; n < 3; n++) await passSecond();
    expect(two.withRoom()).toEqual([{ lane, room: 8 }]);
    // It reports mail of its own alone: two daemons do not remind each other for ever.
    one.drained(lane);
    for (let n = 0; n < 2; n++) await passSecond();
    two.drained(lane);
    for (let n = 0; n < 4; n++) await passSecond();
    expect([one.isAwaited(), two.isAwaited()]).toEqual([false, false]);
  });

  it.runIf(store === 'postgres')('tells others of connections above its part', async () => {
    const [one, two] = [daemon('wrk_1'), daemon('wrk_2', await service.another())];
    for (const lanes of [one, two]) lanes.begun('gmail', 'dlv_a');
    one.exceeded({ gmail: 3 });
    for (let n = 0; n < 4; n++) await passSecond();
    const whole = { places: [{ count: 1, rank: 0 }], taken: {} };
    expect(divided.get('wrk_1')).toEqual(whole);
    expect(divided.get('wrk_2')).toEqual({ ...whole, taken: { gmail: 3 } });
    one.exceeded({});
    for (let n = 0; n < 4; n++) await passSecond();
    expect(divided.get('wrk_2')).toEqual(whole);
  });

  it.runIf(store === 'postgres')('closes a lane in every daemon for the same time', async () => {
    const [one, two] = [daemon('wrk_1'), daemon('wrk_2', await service.another())];
    const lane = 'domain a.example';
    const goes = (lanes: Lanes, name = lane) => lanes.admit(name, 'org_1').goes;
    // A daemon in use reports each second.
    for (const lanes of [one, two]) lanes.begun('domain c.example', 'dlv_c');
    // Several pauses, each longer than the one before.
    for (let n = 0; n < 5; n++) {
      const end = refuse(one, lane);
      while (service.clock.now() < end) await passSecond();
    }
    const until = refuse(one, lane);
    expect(until - service.clock.now()).toBeGreaterThan(20_000);
    await passSecond();
    await passSecond();
    await expect
      .poll(() => two.admit(lane, 'org_1'))
      .toMatchObject({
        goes: false,
        waitReason: 'provider-unavailable',
      });
    expect(goes(two, 'domain b.example')).toBe(true);
    // Reports that go back and forth do not make the pause longer.
    while (service.clock.now() + 1_000 < until) await passSecond();
    for (const lanes of [one, two]) {
      const closed = lanes.states().find((state) => state.lane === lane)?.closedUntil ?? 0;
      expect(Math.abs(closed - until)).toBeLessThan(100);
      expect(goes(lanes)).toBe(false);
    }
    await passSecond();
    expect([goes(one), goes(two)]).toEqual([true, true]);
    // The next fault is not the first: it closes the lane for longer, and tells the other daemon.
    two.begun(lane, 'dlv_next');
    two.ended(lane, 'dlv_next', 'slowed');
    expect(goes(two)).toBe(false);
    expect(refuse(two, lane) - service.clock.now()).toBeGreaterThan(40_000);
    expect(goes(one)).toBe(true);
    await passSecond();
    await passSecond();
    await expect.poll(() => goes(one)).toBe(false);
  });

  it.runIf(store === 'postgres')(
    'closes no lane for the broken network of one daemon',
    async () => {
      const [one, two] = [daemon('wrk_1'), daemon('wrk_2', await service.another())];
      for (const lanes of [one, two]) lanes.begun('domain c.example', 'dlv_c');
      for (let n = 0; n < 3; n++) {
        const end = refuse(one, 'domain a.example', 'unreachable');
        while (service.clock.now() < end) await passSecond();
      }
      // This pause lasts for several reports.
      expect(refuse(one, 'domain a.example', 'unreachable') - service.clock.now()).toBeGreaterThan(
        5_000,
      );
      // Its reports have arrived once that of a rate limit has.
      refuse(one, 'domain b.example');
      const end = refuse(one, 'domain b.example');
      while (service.clock.now() < end) await passSecond();
      refuse(one, 'domain b.example');
      await passSecond();
      await passSecond();
      await expect.poll(() => two.admit('domain b.example', 'org_1').goes).toBe(false);
      expect(one.admit('domain a.example', 'org_1').goes).toBe(false);
      expect(two.admit('domain a.example', 'org_1').goes).toBe(true);
    },
  );

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
