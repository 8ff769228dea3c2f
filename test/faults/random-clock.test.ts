// A wall clock that jumps at random, up to 120 days either way, over an hour of work with restarts.
// Then it is right again. Nothing is lost, nothing is deleted early, all proofs hold, and an hour
// later all jobs are on time. Each seed is one such hour: a known one in `npm test`, random ones in
// `npm run test:long`. CLOCK_SEEDS=50 is a soak; CLOCK_SEED=<the seed in the name of a failed test>
// repeats one. Slow: each seed is two hours of all the work of a daemon.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { startJobs } from '../../daemon/scheduler/jobs.ts';
import { serviceJobs } from '../../daemon/scheduler/service-jobs.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { App } from '../../src/core/app.ts';
import { startHeartbeat } from '../../src/core/clock/heartbeat.ts';
import { createProjector } from '../../src/inbox/receiving/projector.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { buildReceipt } from '../../src/receipts/receipt.ts';
import { sealLog } from '../../src/receipts/seal.ts';
import { createSealer } from '../../src/receipts/sealer.ts';
import { verifyLog } from '../../src/receipts/verify-log.ts';
import { createEraser } from '../../src/service/erasing/eraser.ts';
import { selectJobs } from '../../src/service/jobs/queries.ts';
import { followSetBacks } from '../../src/service/jobs/set-back.ts';
import { createWebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { receiveMail, shortMail } from '../inbox/receiving/received-mail.ts';
import { inLong, stores } from '../support/command.ts';
import { firstDelivery, payloadFor, startPipeline } from '../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { passingTime } from '../support/virtual-clock.ts';
import { makeEndpoint } from '../webhooks/engine.ts';

const givenSeed = process.env.CLOCK_SEED;
const firstSeed = Number(givenSeed ?? inLong(Math.floor(Math.random() * 1_000_000), 889_388));
const count = givenSeed ? 1 : Number(process.env.CLOCK_SEEDS ?? inLong(8, 1));
const seeds = Array.from({ length: count }, (_, index) => firstSeed + index);

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const mostDays = 120;

/** Tables with retention by age, and the columns of their keys. */
const agingTables = {
  messages: 'id',
  events: 'id',
  resource_events: 'id',
  audit_entries: 'id',
  contents: 'id',
  idempotency_claims: 'claim_key',
  webhook_deliveries: 'id',
  webhook_attempts: 'id',
  webhook_bodies: 'event_id',
} as const;

/** Returns the keys of all rows that age could delete. */
async function agingRows({ store }: App): Promise<Set<string>> {
  const keys = new Set<string>();
  for (const [table, key] of Object.entries(agingTables)) {
    const rows = await sql<{
      key: string;
    }>`select ${sql.ref(key)} as key from ${sql.table(table)}`.execute(store.db);
    for (const row of rows.rows) keys.add(`${table} ${row.key}`);
  }
  return keys;
}

interface Work {
  stop(): Promise<void>;
  /** Resolves when no job runs. */
  idle(): Promise<void>;
}

/** Starts the work of a daemon without its listeners. */
async function startWork(app: App, posted: Set<string>): Promise<Work> {
  const idle = { isPressing: () => false, isWorking: () => false };
  const endHeartbeat = await startHeartbeat(app);
  const endSetBacks = followSetBacks(app);
  const pipeline = await startPipeline(app, { worker: app.newId('worker') });
  const projector = createProjector(app);
  await projector.start();
  const eraser = createEraser(app);
  eraser.start();
  const webhooks = createWebhookLoop(app, {
    poster: {
      async post({ headers }) {
        posted.add(String(headers['webhook-id'] ?? headers['svix-id'] ?? ''));
        return {
          ...{ isSuccess: true, statusCode: 204, errorClass: null },
          ...{ response: null, retryAt: null, durationMs: 0 },
        };
      },
      close: async () => {},
    },
  });
  await webhooks.start();
  const sealer = createSealer(app);
  sealer.start();
  const authenticator = createAuthenticator(app);
  const jobs = await startJobs(
    app,
    serviceJobs(app, { authenticator, sealer, surroundings: idle }),
  );
  const stop = async () => {
    await jobs.stop(1_000);
    await authenticator.close();
    await sealer.stop();
    await webhooks.stop(0);
    await eraser.stop();
    await projector.stop();
    // A daemon lets attempts under way end, so that a restart repeats none.
    await pipeline.close(minute);
    await endSetBacks();
    await endHeartbeat();
  };
  return { stop, idle: jobs.idle };
}

/** Returns the names of jobs that are a minute late, or wait for longer than their period. */
async function lateJobs({ store, clock }: App): Promise<string[]> {
  const now = clock.now();
  const jobs = await selectJobs(store.db);
  return jobs.flatMap(({ name, next_at, period_ms }) =>
    next_at > now - minute && next_at <= now + (period_ms ?? 0) ? [] : name,
  );
}

describe.each(stores)('an hour of a clock that jumps at random, on %s', (store) => {
  it.each(seeds)(
    'loses nothing, deletes nothing early and proves all of it (seed %i)',
    { timeout: 300_000 },
    async (seed) => {
      const random = seededRandom(seed);
      const sink: SmtpSink = await startSmtpSink();
      const test: TestApp = await testApp({
        store,
        seed,
        config: {
          delivery: { mode: 'relay', relay: { host: sink.host, port: sink.port } },
          retention: { messagesDays: 20, contentDays: 10, eventsDays: 30, auditDays: 30 },
        },
      });
      const { clock, caller } = test;
      /**
       * Lets time pass until `answer`: on PostgreSQL a transaction that is repeated first rests.
       */
      const passing = <T>(answer: Promise<T>) => passingTime(clock, answer, 10);
      const organizationId = caller.organizationId;
      const posted = new Set<string>();
      let app = test.app;
      let work = await startWork(app, posted);
      const startAt = clock.now() - clock.elapsed();
      const rightNow = () => startAt + clock.elapsed();
      try {
        await makeEndpoint(test, 'http://127.0.0.1:1/');
        const sent: { id: string; address: string }[] = [];
        const kept = await agingRows(app);
        for (let passed = 0; passed < 60; passed++) {
          const dice = random.float();
          if (dice < 0.15) {
            const aheadMs = (2 * random.float() - 1) * mostDays * day;
            clock.set(
              Math.floor(rightNow() + (random.float() < 0.3 ? aheadMs / 100_000 : aheadMs)),
            );
          } else if (dice < 0.3) clock.set(rightNow());
          if (random.float() < 0.1) {
            await work.stop();
            // Some clocks are set while no daemon runs.
            if (random.float() < 0.5) clock.set(rightNow());
            app = await test.another();
            work = await startWork(app, posted);
          }
          const address = `ada${passed}@example.com`;
          const sending = sendMessage(app, caller, payloadFor(address), `key-${passed}`);
          const { id } = await passing(sending);
          sent.push({ id, address });
          if (passed % 10 === 0) await passing(receiveMail(app, shortMail(`mail ${passed}`)));
          for (const key of await agingRows(app)) kept.add(key);
          await clock.advance(minute);
        }
        const told = `seed ${seed}`;
        clock.set(rightNow());
        for (let passed = 0; passed <= 60; passed++) {
          await clock.advance(minute);
          // The virtual clock waits for no job, and a job that still runs misses its next tick.
          await passing(work.idle());
        }

        const missing = () => {
          const wanted = new Set(sent.map(({ address }) => address));
          const extra = sink.messages.flatMap(({ recipients }) =>
            recipients.filter((address) => !wanted.delete(address)),
          );
          return { missing: [...wanted], extra };
        };
        const none = { missing: [], extra: [] };
        await expect.poll(missing, { timeout: 10_000, message: told }).toEqual(none);
        for (const { id } of sent) {
          const { status } = await firstDelivery(app, caller, id);
          expect(['sent', 'delivered'], told).toContain(status);
        }
        const left = await agingRows(app);
        expect(
          [...kept].filter((key) => !left.has(key)),
          told,
        ).toEqual([]);
        await sealLog(app, organizationId);
        expect(await verifyLog(app, organizationId), told).toMatchObject({
          ...{ changed: [], deleted: 0, erased: 0, unsealed: 0, problems: [] },
        });
        for (const { id } of sent.filter((_one, at) => at % 15 === 0)) {
          expect((await buildReceipt(app, caller, id)).path.length, told).toBeGreaterThan(0);
        }
        expect(await lateJobs(app), told).toEqual([]);
        const waiting =
          await sql`select id from webhook_deliveries where status = 'pending'`.execute(
            app.store.db,
          );
        expect(waiting.rows, told).toEqual([]);
      } finally {
        await work.stop();
        await test.close();
        await sink.close();
      }
    },
  );
});
