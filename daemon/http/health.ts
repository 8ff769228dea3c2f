// Probes for operators and their monitoring, without a key: whether the process is alive, whether
// it can accept work, and its metrics in Prometheus text. They answer even while requests are
// refused for lack of capacity.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../src/core/app.ts';

const mostOftenMs = 1_000;

/** Mounts `/healthz`, `/readyz` and `/metrics`. */
export function mountHealth(
  server: FastifyInstance,
  app: App,
  isQueueRunning: () => boolean,
): void {
  const isWritable = askedAtMostEach(app, () => isStoreWritable(app));

  server.get('/healthz', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_request, reply) => {
    const store = await isWritable();
    const queue = isQueueRunning();
    const isReady = store && queue;
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? 'ready' : 'not ready', store, queue });
  });

  server.get('/metrics', async (_request, reply) => {
    const { registry } = app.metrics;
    return reply.header('content-type', registry.contentType).send(await registry.metrics());
  });
}

/** Shares one answer among all calls within a second: each check is a durable write. */
function askedAtMostEach(app: App, ask: () => Promise<boolean>): () => Promise<boolean> {
  let asked: { at: number; answer: Promise<boolean> } | null = null;
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
