// What operators and their machines ask without a key (contract 1): does the process live, can it
// take work, and its metrics in Prometheus text. Answers also while requests are being shed.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../src/app.ts';

/** Mounts `/healthz`, `/readyz` and `/metrics`. */
export function mountHealth(
  server: FastifyInstance,
  app: App,
  isQueueRunning: () => boolean,
): void {
  server.get('/healthz', async () => ({ status: 'ok' }));

  server.get('/readyz', async (_request, reply) => {
    const store = await isWritable(app);
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

async function isWritable(app: App): Promise<boolean> {
  try {
    return await app.store.isWritable();
  } catch (error) {
    app.log.warn({ err: error }, 'The store cannot be asked whether it takes writes');
    return false;
  }
}
