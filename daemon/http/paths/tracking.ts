// Serves the targets of links in mail (src/outbound/tracking/serve.ts,
// src/outbound/unsubscribe-links/serve.ts, src/campaigns/opt-in/serve.ts): no key, no cookie. A
// link without a target is a page for people.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { serveConfirming } from '../../../src/campaigns/opt-in/serve.ts';
import type { App } from '../../../src/core/app.ts';
import { serveProof } from '../../../src/outbound/sending/sender-proof/serve.ts';
import { brokenLink } from '../../../src/outbound/tracking/recipient-page.ts';
import { serveTracked, type TrackedAnswer } from '../../../src/outbound/tracking/serve.ts';
import { serveLeaving } from '../../../src/outbound/unsubscribe-links/serve.ts';
import { readForm } from '../../tracking/form.ts';
import type { Workload } from '../workload.ts';

/** Mounts everything below `/t/`, `/u/`, `/c/` and `/verify/`. */
export function mountTracking(server: FastifyInstance, app: App, workload: Workload): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: '/t/*',
    handler: async ({ method, url: path, headers, socket }, reply) => {
      const { remoteAddress = null } = socket;
      const asked = { method, path, headers, remoteAddress };
      const answer = await workload.begin(() => serveTracked(app, asked));
      return send(reply, answer ?? brokenLink);
    },
  });
  const forms = { '/u/*': serveLeaving, '/c/*': serveConfirming, '/verify/*': serveProof };
  for (const [url, serve] of Object.entries(forms)) {
    server.route({
      method: ['GET', 'HEAD', 'POST'],
      url,
      handler: async ({ method, url: path, headers, socket, raw }, reply) => {
        const body = method === 'POST' ? await readForm(raw, app.clock) : null;
        const { remoteAddress = null } = socket;
        const asked = { method, path, headers, remoteAddress, ...(body && { body }) };
        const answer = await workload.begin(() => serve(app, asked));
        return send(reply, answer ?? brokenLink);
      },
    });
  }
}

function send(reply: FastifyReply, { status, headers, body }: TrackedAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
