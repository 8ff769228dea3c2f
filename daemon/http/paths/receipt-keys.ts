// Serves the public keys with which anyone checks receipts (docs/receipts.md), without a key.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../../src/core/app.ts';
import { listPublicKeys } from '../../../src/receipts/keys.ts';
import type { Workload } from '../workload.ts';

/** Mounts `GET /.well-known/svc-receipts.json`. */
export function mountReceiptKeys(server: FastifyInstance, app: App, workload: Workload): void {
  server.get('/.well-known/svc-receipts.json', async () => {
    return { keys: await workload.begin(() => listPublicKeys(app)) };
  });
}
