// Probes for operators and their monitoring, without a key: whether the process runs, whether it
// can accept work, and the metrics in Prometheus text. They answer even while requests are refused
// for lack of capacity.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../../src/core/app.ts';
import { program } from '../../../src/platform/runtime/program.ts';
import { foreignSchemaOf } from '../../../src/platform/store/migrate.ts';
import { listJobs } from '../../../src/service/jobs/jobs.ts';
import { storeIdOf } from '../../../src/service/store-id.ts';

const mostOftenMs = 1_000;

export interface HealthParts {
  isQueueRunning: () => boolean;
  /** Tells whether the daemon delivers no more mail because it will stop. */
  isDraining: () => boolean;
}

/** Mounts `/healthz`, `/readyz` and `/metrics`. */
export function mountHealth(
  server: FastifyInstance,
  app: App,
  { isQueueRunning, isDraining }: HealthParts,
): void {
  const isWritable = askedAtMostEach(app, () => isStoreWritable(app));
  const isSchemaUsable = askedAtMostEach(app, schemaWatch(app));
  const jobs = askedAtMostEach(app, () => jobsOf(app));
  const storeId = askedAtMostEach(app, () => storeIdOf(app.store.db).catch(() => null));
  const metrics = askedAtMostEach(app, async () => {
    return Buffer.from(await app.metrics.registry.metrics());
  });

  server.get('/healthz', async () => ({ status: 'ok' }));

  server.get('/readyz', async (request, reply) => {
    const [store, schema] = await Promise.all([isWritable(), isSchemaUsable()]);
    const queue = isQueueRunning();
    const isReady = store && schema && queue;
    const isVerbose = typeof request.query === 'object' && 'verbose' in (request.query ?? {});
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'not ready',
      store,
      schema,
      queue,
      ...(isVerbose && {
        pid: process.pid,
        ...program,
        storeId: await storeId(),
        draining: isDraining(),
        jobs: await jobs(),
      }),
    });
  });

  server.get('/metrics', async (_request, reply) =>
    reply.header('content-type', app.metrics.registry.contentType).send(await metrics()),
  );
}

/**
 * Shares an answer among all calls within a second. A check is a durable write, and the text of the
 * metrics takes milliseconds.
 */
function askedAtMostEach<Answer>(app: App, ask: () => Promise<Answer>): () => Promise<Answer> {
  let asked: { at: number; answer: Promise<Answer> } | null = null;
  return () => {
    const now = app.clock.elapsed();
    if (!asked || now - asked.at >= mostOftenMs) asked = { at: now, answer: ask() };
    return asked.answer;
  };
}

async function isStoreWritable(app: App): Promise<boolean> {
  try {
    return await app.store.isWritable();
  } catch (error) {
    app.log.warn({ err: error }, 'the store cannot be asked whether it accepts writes');
    return false;
  }
}

/**
 * Returns a check of the store's schema: a daemon of a newer version may have migrated it to a
 * schema that this daemon cannot use. The first foreign schema is logged.
 */
function schemaWatch(app: App): () => Promise<boolean> {
  let known: string | null = null;
  return async () => {
    // Ignores errors of the read: `isStoreWritable` reports a store that cannot be read.
    const found = await foreignSchemaOf(app.store.db).catch(() => known);
    if (found !== null && found !== known)
      app.log.error(`this daemon is not ready: the store ${found}`);
    known = found;
    return found === null;
  };
}

/**
 * Returns the scheduled jobs; null if they cannot be read. Leaves out the texts of their errors, as
 * the path needs no key.
 */
async function jobsOf(app: App) {
  try {
    const jobs = await listJobs(app.store.db, app.clock.now());
    return jobs.map(({ lastError, ...job }) => ({ ...job, hasFailed: lastError !== null }));
  } catch (error) {
    app.log.warn({ err: error }, 'the scheduled jobs cannot be read');
    return null;
  }
}
