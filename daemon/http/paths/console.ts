// Mounts the console at `/console`. The code is loaded at the first visit, so an unused console
// costs nothing.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Console } from '../../console/console.ts';
import type { ConsoleParts } from '../../console/site.ts';

/** Mounts everything at and below `/console`, and the links of domains. */
export function mountConsole(server: FastifyInstance, parts: ConsoleParts): void {
  let loading: Promise<Console> | undefined;
  const load = async () => {
    const loaded = await import('../../console/console.ts');
    return new loaded.Console(parts);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    loading ??= load();
    return (await loading).handle(request, reply);
  };
  server.addHook('preClose', async () => (await loading)?.close());
  server.route({
    method: ['GET', 'HEAD'],
    url: '/domains/:token',
    handler: async (request, reply) => {
      loading ??= load();
      return (await loading).showDomain(request, reply);
    },
  });
  for (const url of ['/console', '/console/*']) {
    server.route({ method: ['GET', 'HEAD', 'POST'], url, handler });
  }
}
