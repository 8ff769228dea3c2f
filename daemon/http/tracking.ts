// Serves the targets of links in mail (src/outbound/tracking/serve.ts, src/outbound/unsubscribe-links/serve.ts): no key, no cookie.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../src/core/app.ts';
import { serveTracked } from '../../src/outbound/tracking/serve.ts';
import { serveLeaving } from '../../src/outbound/unsubscribe-links/serve.ts';
import { ResourceNotFoundError } from '../../src/platform/errors.ts';
import { readForm } from '../tracking/form.ts';
import type { Workload } from './workload.ts';

/** Mounts everything below `/t/` and `/u/`. */
export function mountTracking(server: FastifyInstance, app: App, workload: Workload): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: '/t/*',
    handler: async ({ method, url: path, headers, socket }, reply) => {
      const { remoteAddress = null } = socket;
      const asked = { method, path, headers, remoteAddress };
      const answer = await workload.begin(() => serveTracked(app, asked));
      if (!answer) throw new ResourceNotFoundError('route', `${method} ${path}`);
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    },
  });
  server.route({
    method: ['GET', 'HEAD', 'POST'],
    url: '/u/*',
    handler: async ({ method, url: path, headers, socket, raw }, reply) => {
      const body = method === 'POST' ? await readForm(raw, app.clock) : null;
      const { remoteAddress = null } = socket;
      const asked = { method, path, headers, remoteAddress, ...(body && { body }) };
      const answer = await workload.begin(() => serveLeaving(app, asked));
      if (!answer) throw new ResourceNotFoundError('route', `${method} ${path}`);
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    },
  });
}
