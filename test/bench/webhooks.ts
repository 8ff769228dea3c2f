// The cost of webhooks, by hand: npx node test/bench/webhooks.ts [sends] [alone] [fair] [dead] [stats].
// Without words all of it; with `profile`, where the time of `sends` and `alone` goes. Figures are printed,
// never asserted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { updateOrganization } from '../../src/access/organizations/organizations.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { insertResourceEvents } from '../../src/history/events/queries.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { openService } from '../../src/service/service.ts';
import { claim } from '../../src/webhooks/claim.ts';
import { addToCounters } from '../../src/webhooks/counter-queries.ts';
import { endpointsWithWork } from '../../src/webhooks/delivery-queries.ts';
import { enqueueAll } from '../../src/webhooks/enqueue.ts';
import { webhookStats } from '../../src/webhooks/stats.ts';
import { createWebhook } from '../../src/webhooks/webhooks.ts';
import { runRound } from './contender.ts';
import { type Profiling, prepareProfiling, profileClock, type Span } from './cpu-profile.ts';
import { startBenchSink } from './processes.ts';
import { median, say } from './progress.ts';
import { type BenchService, startBenchService, textOf } from './svc-contender.ts';

const rounds = 3;
const messages = 5_000;
const eventsPerTransaction = 1_000;
const wanted = process.argv.slice(2);
const isProfiling = wanted.includes('profile');
const isWanted = (part: string) => wanted.length === 0 || wanted.includes(part);

const env = { SVC_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES: 'true' };
const hooks = fork(join(import.meta.dirname, 'hook-process.ts'));
const [{ port }] = (await once(hooks, 'message')) as [{ port: number }];
const hookUrl = (path: string, host = 1) => `http://127.0.0.${host}:${port}/${path}`;
let takenBefore = 0;

/** Waits until `count` more posts were taken; resolves with the count of refused ones since the start. */
async function taken(count: number): Promise<number> {
  takenBefore += count;
  hooks.send(takenBefore);
  const [{ refused }] = (await once(hooks, 'message')) as [{ refused: number }];
  return refused;
}

const load = () => loadavg()[0]?.toFixed(1);

/** The store of the bench's daemon, while that does not run. */
async function onStore(service: BenchService, work: (app: App, owner: string) => Promise<void>) {
  const { config } = loadConfig({ env: { ...service.env, ...env }, cwd: process.cwd() });
  const app = await openService(config, await createLogger({ level: 'warn', pretty: false }));
  try {
    await work(app, (await findOrganizationByName(app.store.db, 'default'))?.id ?? '');
  } finally {
    await app.close();
  }
}

/** Makes endpoints at these paths, and queues `count` events for each. */
async function seed(
  app: App,
  organizationId: string,
  paths: readonly string[],
  count: number,
  isOneHost = false,
) {
  const ids: string[] = [];
  for (const [index, path] of paths.entries()) {
    const input = { url: hookUrl(path, isOneHost ? 1 : index + 1), events: ['domain.failed'] };
    ids.push((await createWebhook(app, operatorOf(organizationId), input)).id);
  }
  const type = 'domain.failed';
  for (let done = 0; done < count; done += eventsPerTransaction) {
    const some = Array.from({ length: Math.min(eventsPerTransaction, count - done) }, () => {
      return { id: app.newId('event'), organizationId, type, subject: 'dom_1' };
    });
    await app.store.write(async (trx) => {
      const rows = some.map(({ id }) => ({
        ...{ organization_id: organizationId, id, event_type: type, subject: 'dom_1' },
        ...{ timestamp: app.clock.now(), data: '{"id":"dom_1","name":"a.example"}', facts: null },
      }));
      await insertResourceEvents(trx, rows);
      const each = some.flatMap((event) => ids.map((endpointId) => ({ endpointId, event })));
      await enqueueAll(app, trx, each);
    });
  }
  return ids;
}

interface Delivering {
  /** Paths of the endpoints, which set their behaviour. */
  paths: readonly string[];
  /** Events for each of them. */
  count: number;
  /** Count of healthy endpoints, the first of `paths`. */
  healthy: number;
  /** All are of one origin, and share its connections. */
  isOneHost?: boolean;
  profiling?: Profiling | null;
}

type Delivered = Awaited<ReturnType<typeof deliver>>;

/** Runs the daemon over the queued events: from the first post until all healthy endpoints are done. */
async function deliver({ paths, count, healthy, isOneHost, profiling = null }: Delivering) {
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port, { ...env, ...profiling?.env });
  const posts = healthy * count - 1;
  let from = 0;
  try {
    const first = taken(1);
    await service.restart(() =>
      onStore(service, async (app, owner) => {
        await seed(app, owner, paths, count, isOneHost);
      }),
    );
    const before = await first;
    const cpu = service.daemon.cpuMs();
    const started = performance.now();
    from = profileClock();
    const refused = (await taken(posts)) - before;
    const seconds = (performance.now() - started) / 1000;
    return { seconds, coreMs: (service.daemon.cpuMs() - cpu) / posts, refused };
  } finally {
    const span = { name: 'deliveries', from, to: profileClock(), messages: posts };
    await service.stop();
    sink.close();
    profiling?.report([span]);
  }
}

/** Sends with one endpoint for `message.*`, and without any, in turn on one daemon. */
async function benchSends(): Promise<void> {
  const sink = await startBenchSink();
  const profiling = isProfiling ? prepareProfiling() : null;
  const service = await startBenchService(sink.port, { ...env, ...profiling?.env });
  const spans: Span[] = [];
  const figures = { without: [] as number[][], with: [] as number[][] };
  const call = (method: string, path: string, body?: object) =>
    fetch(`http://127.0.0.1:${service.daemon.httpPort}/v1/webhooks${path}`, {
      method,
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).then((answer) => answer.json() as Promise<{ id: string }>);
  try {
    const contender = await service.contender('ed25519', { connections: 32, text: textOf(2048) });
    await runRound(contender, sink, messages);
    for (let round = 0; round < rounds; round++) {
      const none = await runRound(contender, sink, messages);
      figures.without.push([none.acceptPerSecond, none.endToEndPerSecond, none.coreMsPerMessage]);
      const input = { url: hookUrl('ok'), events: ['message.*'] };
      const { id } = await call('POST', '', input);
      const started = performance.now();
      const from = profileClock();
      // Each is accepted and sent.
      const cpu = service.daemon.cpuMs();
      const all = taken(2 * messages).then(() => ({
        perSecond: (1000 * messages) / (performance.now() - started),
        coreMs: (service.daemon.cpuMs() - cpu) / messages,
      }));
      const one = await runRound(contender, sink, messages);
      const { perSecond, coreMs } = await all;
      figures.with.push([
        ...[one.acceptPerSecond, one.endToEndPerSecond, one.coreMsPerMessage],
        ...[perSecond, coreMs],
      ]);
      spans.push({ name: 'sends with an endpoint', from, to: profileClock(), messages });
      await call('DELETE', `/${id}`);
      say(`round ${round + 1}, load ${load()}`);
    }
  } finally {
    await service.stop();
    sink.close();
    profiling?.report(spans.slice(-1));
  }
  const middle = (rows: number[][], at: number) => median(rows.map((row) => row[at] ?? 0));
  console.table(
    Object.entries(figures).map(([name, rows]) => ({
      endpoint: name,
      'accept/s': Math.round(middle(rows, 0)),
      'end to end/s': Math.round(middle(rows, 1)),
      'core-ms': Number(middle(rows, 2).toFixed(3)),
      'with all posts/s': name === 'with' ? Math.round(middle(rows, 3)) : '-',
      'core-ms with them': name === 'with' ? Number(middle(rows, 4).toFixed(3)) : '-',
    })),
  );
}

async function benchAlone(): Promise<void> {
  const count = 20_000;
  for (let round = 0; round < rounds; round++) {
    const profiling = isProfiling ? prepareProfiling() : null;
    const paths = ['ok1', 'ok2', 'ok3', 'ok4'];
    const { seconds, coreMs } = await deliver({ paths, count: count / 4, healthy: 4, profiling });
    const rate = Math.round((count - 1) / seconds);
    say(`alone: ${rate} deliveries/s, ${coreMs.toFixed(3)} core-ms each, load ${load()}`);
  }
}

async function benchFair(): Promise<void> {
  // 10,000 deliveries to ten endpoints.
  const count = 1_000;
  const healthy = Array.from({ length: 8 }, (_, index) => `ok${index}`);
  for (const isOneHost of [false, true]) {
    const run = (paths: readonly string[]) => deliver({ paths, count, healthy: 8, isOneHost });
    const alone: Delivered[] = [];
    const beside: Delivered[] = [];
    for (let round = 0; round < rounds; round++) {
      alone.push(await run(healthy));
      beside.push(await run([...healthy, 'hang', 'fail']));
    }
    const middle = (rows: Delivered[], of: keyof Delivered) => median(rows.map((row) => row[of]));
    const ratio = (of: keyof Delivered) => (middle(beside, of) / middle(alone, of)).toFixed(2);
    say(
      `eight of ${isOneHost ? 'one host' : 'a host each'} alone: ` +
        `${middle(alone, 'seconds').toFixed(2)} s, beside one that hangs and one that fails: ` +
        `${middle(beside, 'seconds').toFixed(2)} s (${ratio('seconds')}; of core-ms ` +
        `${ratio('coreMs')}), ${middle(beside, 'refused')} posts in vain, load ${load()}`,
    );
  }
}

const sevenDaysMs = 7 * 24 * 3600_000;

/** Claims for a healthy endpoint, before and after a million wait for a dead one. */
async function benchDead(): Promise<void> {
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port, env);
  await service.restart(() =>
    onStore(service, async (app, owner) => {
      const [id = ''] = await seed(app, owner, ['ok'], 10_000);
      const time = async () => {
        const took: number[] = [];
        for (let run = 0; run < 40; run++) {
          const started = performance.now();
          await endpointsWithWork(app.store.db, '', 1_000);
          await app.store.write(async (trx) => {
            const lease = { worker: 'wrk_bench', leaseUntil: app.clock.now() + sevenDaysMs };
            const holder = { organizationId: owner, isReluctant: false };
            const due = { isReplay: false, limit: 64, dueAt: app.clock.now() };
            const wish = { endpointId: id, ...holder, ...due };
            await claim(app, trx, [wish], lease);
          }, 'quiet');
          took.push(performance.now() - started);
        }
        return median(took);
      };
      await time();
      const before = await time();
      await seed(app, owner, ['dead'], 1_000_000);
      await time();
      const after = await time();
      say(
        `a look and a claim of 64: ${before.toFixed(2)} ms; with 1,000,000 of a dead endpoint ` +
          `${after.toFixed(2)} ms, load ${load()}`,
      );
    }),
  );
  await service.stop();
  sink.close();
}

async function benchStats(): Promise<void> {
  const sink = await startBenchSink();
  const service = await startBenchService(sink.port, env);
  await service.restart(() =>
    onStore(service, async (app, owner) => {
      const caller = operatorOf(owner);
      const quarterMs = 900_000;
      const now = app.clock.now() - (app.clock.now() % quarterMs);
      const ids = await seed(app, owner, ['ok', 'fail'], 1);
      await app.store.write(async (trx) => {
        for (const endpoint_id of ids) {
          for (let index = 0; index < 90 * 96; index++) {
            const counts = { pending: 1, delivered: 1_000, exhausted: 2, cancelled: 3 };
            const quarter = now - index * quarterMs;
            await addToCounters(trx, [{ endpoint_id, quarter, ...counts }]);
          }
        }
      });
      await updateOrganization(app, owner, { timezone: 'Europe/Berlin' });
      const took: number[] = [];
      for (let run = 0; run < 21; run++) {
        const started = performance.now();
        await webhookStats(app, caller, ids[0] ?? '', 90);
        took.push(performance.now() - started);
      }
      say(`statistics of 90 full days: ${median(took).toFixed(1)} ms, load ${load()}`);
    }),
  );
  await service.stop();
  sink.close();
}

if (isWanted('sends')) await benchSends();
if (isWanted('alone')) await benchAlone();
if (isWanted('fair')) await benchFair();
if (isWanted('dead')) await benchDead();
if (isWanted('stats')) await benchStats();
hooks.disconnect();
