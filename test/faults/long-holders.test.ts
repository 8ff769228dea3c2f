// Two daemons on one PostgreSQL. One works on a unit for ten minutes, longer than any lease; the
// other looks all the while, and the clock jumps. A lease lives as long as its holder works, so the
// other daemon never takes the work, and none is done twice.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { campaignLoop } from '../../src/campaigns/walk/loop.ts';
import type { App } from '../../src/core/app.ts';
import { createProjector } from '../../src/inbox/receiving/projector.ts';
import { createReportReader } from '../../src/outbound/reports/reports.ts';
import { createTrackingHostLoop } from '../../src/outbound/tracking/custom/loop.ts';
import { patienceMs, runOnce } from '../../src/service/door/claims.ts';
import { addJob } from '../../src/service/jobs/queries.ts';
import { runTick } from '../../src/service/jobs/run-tick.ts';
import { createWebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { makeCampaign, makeContacts, makeRun, messagesOf } from '../campaigns/walk/fixtures.ts';
import { receiveMail, shortMail } from '../inbox/receiving/received-mail.ts';
import { send, startPipeline } from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { watchWrites } from '../support/watched-writes.ts';
import { deliveryRow, makeDeliveries, makeEndpoint } from '../webhooks/engine.ts';

/** Holds each call of a unit of work until `release`. */
class Gate {
  calls = 0;
  readonly #open = Promise.withResolvers<void>();

  async pass(): Promise<void> {
    this.calls += 1;
    await this.#open.promise;
  }

  release(): void {
    this.#open.resolve();
  }
}

const gates = vi.hoisted(() => ({ page: null as Gate | null, host: null as Gate | null }));
vi.mock(import('../../src/campaigns/walk/page.ts'), async (original) => {
  const { walkPage } = await original();
  return {
    async walkPage(...given) {
      await gates.page?.pass();
      return walkPage(...given);
    },
  };
});
vi.mock(import('../../src/outbound/tracking/custom/turn.ts'), async (original) => ({
  ...(await original()),
  async checkHost(app) {
    await gates.host?.pass();
    return { next_check_at: app.clock.now() + 86_400_000 };
  },
}));

const stepMs = 10_000;
const workMs = 600_000;
const hour = 3_600_000;
/** Jumps of the clock of both daemons, by the time of work. */
const jumps = new Map([
  [200_000, hour],
  [400_000, -hour],
]);

describe('a daemon that works longer than its lease keeps', () => {
  let test: TestApp;
  let other: App;
  let sink: SmtpSink;
  let gate: Gate;
  /** Resolves once the renewals of the holder are committed. */
  let written: () => Promise<void>;
  const stops: (() => unknown)[] = [];
  beforeEach(async () => {
    gate = new Gate();
    sink = await startSmtpSink();
    const relay = { host: sink.host, port: sink.port };
    const config = { delivery: { mode: 'relay', relay } } as const;
    test = await testApp({ store: 'postgres', config });
    other = await test.another();
    written = watchWrites(test.app.store);
  });
  afterEach(async () => {
    gate.release();
    Object.assign(gates, { page: null, host: null });
    for (const stop of stops.splice(0).reverse()) await stop();
    await test.close();
    await sink.close();
  });

  /** Lets the other daemon look: several statements are answered. */
  async function letOtherLook(): Promise<void> {
    for (let asked = 0; asked < 10; asked++) {
      await other.store.isWritable();
      await nextTurn();
    }
  }

  /**
   * Waits until the holder works, then lets the work take ten minutes of a jumping clock while
   * `look` repeats.
   */
  async function workLong(look: () => Promise<unknown> = async () => {}): Promise<void> {
    await vi.waitFor(() => expect(gate.calls).toBe(1));
    for (let passed = 0; passed < workMs; passed += stepMs) {
      await test.clock.advance(stepMs);
      await written();
      const jumpMs = jumps.get(passed);
      if (jumpMs) {
        test.clock.set(test.clock.now() + jumpMs);
        // A commit wakes the other daemon before the holder renews its lease.
        await other.store.write((trx) =>
          sql`update clock_state set beat_at = beat_at`.execute(trx),
        );
        await test.clock.advance(1);
      }
      await letOtherLook();
      await look();
    }
    expect(gate.calls).toBe(1);
    gate.release();
  }

  /** Starts the loops of both daemons, the first of them first. */
  async function start(begin: (app: App) => { start(): unknown; stop(graceMs: number): unknown }) {
    for (const app of [test.app, other]) {
      const loop = begin(app);
      await loop.start();
      stops.push(() => loop.stop(0));
      if (app === test.app) await vi.waitFor(() => expect(gate.calls).toBe(1));
    }
  }

  it('a campaign run', async () => {
    const { app, caller, operator } = test;
    gates.page = gate;
    await makeContacts(app, caller, 20);
    const run = await makeRun(app, operator, await makeCampaign(app, caller));
    await start(campaignLoop);
    await workLong();
    await expect.poll(() => messagesOf(app, run.id)).toBe(20);
  });

  it('a scheduled job', async () => {
    const { app, clock } = test;
    const nextAt = clock.now();
    await app.store.write((trx) => addJob(trx, { name: 'slow', nextAt, periodMs: 60_000 }));
    const job = { name: 'slow', run: () => gate.pass(), nextAfter: (ms: number) => ms + 60_000 };
    const { signal } = new AbortController();
    const run = runTick(app, job, { holder: 'a', signal });
    await workLong(async () => {
      expect(await runTick(other, job, { holder: 'b', signal })).toBe(false);
    });
    expect(await run).toBe(true);
  });

  it('received mail', async () => {
    const { app } = test;
    await receiveMail(app, shortMail('one'));
    for (const one of [app, other]) {
      const { parse } = one.mime;
      Object.assign(one.mime, {
        parse: async (...given: Parameters<typeof parse>) => {
          await gate.pass();
          return parse(...given);
        },
      });
    }
    const projected = createProjector(app).projectDue();
    const theirs = createProjector(other);
    await workLong(async () => expect(await theirs.projectDue()).toBe(0));
    expect(await projected).toBe(1);
  });

  it('reports', async () => {
    const { app, caller, clock } = test;
    const now = clock.now();
    for (const name of ['rep_1', 'rep_2', 'rep_3']) {
      await app.store.write((trx) =>
        sql`insert into inbound_reports (id, organization_id, kind, envelope_from, raw, tries, due_at, created_at)
          values (${name}, ${caller.organizationId}, 'dmarc', '', ${Buffer.from('x')}, 0, ${now}, ${now})`.execute(
          trx,
        ),
      );
    }
    for (const one of [app, other]) {
      Object.assign(one.mime, {
        async readReport() {
          await gate.pass();
          return null;
        },
      });
    }
    const read = createReportReader(app).readDue();
    const theirs = createReportReader(other);
    await workLong(async () => expect(await theirs.readDue()).toBe(0));
    expect(await read).toBe(3);
  });

  it('webhook deliveries', async () => {
    const { app } = test;
    const [id = ''] = await makeDeliveries(
      test,
      await makeEndpoint(test, 'http://127.0.0.1:1/'),
      1,
    );
    await start((one) =>
      createWebhookLoop(one, {
        poster: {
          async post() {
            await gate.pass();
            return {
              ...{ isSuccess: true, statusCode: 204, errorClass: null },
              ...{ response: null, retryAt: null, durationMs: 0 },
            };
          },
          close: async () => {},
        },
      }),
    );
    await workLong();
    await vi.waitFor(async () => expect((await deliveryRow(app, id)).status).toBe('delivered'));
  });

  it('a tracking host', async () => {
    const { app, caller, clock } = test;
    gates.host = gate;
    const now = clock.now();
    await app.store.write((trx) =>
      sql`insert into tracking_hosts (id, organization_id, domain_id, label, hostname, status, caa_blocked,
          verification_errors, failures, enabled_at, next_check_at, created_at, updated_at)
        select 'trk_1', organization_id, id, 'links', 'links.example', 'pending', 0, '[]', 0, ${now}, ${now}, ${now},
          ${now} from domains where organization_id = ${caller.organizationId} limit 1`.execute(
        trx,
      ),
    );
    await start(createTrackingHostLoop);
    await workLong();
    await vi.waitFor(async () => {
      const { rows } = await sql`select claimed_by from tracking_hosts`.execute(app.store.db);
      expect(rows).toEqual([{ claimed_by: null }]);
    });
  });

  it('an idempotency key', async () => {
    const { app, caller } = test;
    const work = (one: App, run: () => Promise<{ id: string }>) => {
      const asked = { key: 'k', fingerprint: 'f', digest: async () => 'f' };
      return runOnce(one, caller, {}, asked, run);
    };
    const mine = work(app, async () => {
      await gate.pass();
      return { id: 'con_1' };
    });
    let repeats = 0;
    const repeat = vi.fn(async () => ({ id: 'con_2' }));
    await workLong(async () => {
      if (++repeats % 10 > 0) return;
      const refused = expect(work(other, repeat)).rejects.toThrow('in progress');
      await test.clock.advance(patienceMs);
      await refused;
    });
    expect(await mine).toEqual({ value: { id: 'con_1' }, isReplayed: false });
    expect(await work(other, repeat)).toEqual({ value: { id: 'con_1' }, isReplayed: true });
    expect(repeat).not.toHaveBeenCalled();
  });

  it('deliveries', async () => {
    const { app, caller } = test;
    // The reply comes in six pieces, a minute and a half apart.
    sink.on({ verb: 'dot', times: 1 }, { dripMsPerByte: 90_000, text: '250 ok\r\n' });
    const mine = await startPipeline(app, { worker: 'wrk_a' });
    stops.push(() => mine.close());
    await send(app, caller, 'ada@example.com');
    await vi.waitFor(() => expect(sink.commands.some(({ line }) => line === 'DATA')).toBe(true));
    const theirs = await startPipeline(other, { worker: 'wrk_b' });
    stops.push(() => theirs.close());
    gate.calls = 1;
    await workLong();
    await nextTurn();
    expect(sink.commands.filter(({ line }) => line === 'DATA')).toHaveLength(1);
  });
});
