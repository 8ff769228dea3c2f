// Serves tracked links and the pages behind links in mail (daemon/tracking/serve.ts), without key
// or cookie. A link without a target gets a page for people.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { App } from '../../../src/core/app.ts';
import type { LinkAnswer } from '../../../src/core/link-pages/link-page.ts';
import { brokenLink } from '../../../src/core/link-pages/recipient-page.ts';
import { serveTracked } from '../../../src/outbound/tracking/serve.ts';
import { readForm } from '../../tracking/form.ts';
import { linkPages } from '../../tracking/serve.ts';
import { visitorOf } from '../visitor.ts';
import type { Workload } from '../workload.ts';

/** Mounts the tracked links below `/t/`, and each page of `linkPages`. */
export function mountTracking(server: FastifyInstance, app: App, workload: Workload): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: '/t/*',
    handler: async ({ method, url: path, headers, raw }, reply) => {
      const remoteAddress = visitorOf(app, raw) || null;
      const asked = { method, path, headers, remoteAddress };
      const answer = await workload.begin(() => serveTracked(app, asked));
      return send(reply, answer ?? brokenLink);
    },
  });
  for (const { path: prefix, serve } of linkPages) {
    server.route({
      method: ['GET', 'HEAD', 'POST'],
      url: `${prefix}*`,
      handler: async ({ method, url: path, headers, raw }, reply) => {
        const body = method === 'POST' ? await readForm(raw, app.clock) : null;
        const remoteAddress = visitorOf(app, raw) || null;
        const asked = { method, path, headers, remoteAddress, ...(body && { body }) };
        const answer = await workload.begin(() => serve(app, asked));
        return send(reply, answer ?? brokenLink);
      },
    });
  }
}

function send(reply: FastifyReply, { status, headers, body }: LinkAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
