// Git's smart HTTP on `/v1/templates/{id}/git`, for clone, fetch and push by any git client. Not
// routes, because their bodies are not JSON and the key is the password of Basic authentication.
// src/content/git has the protocol.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { packLimits } from '../../../src/content/git/pack-read.ts';
import { type GitService, gitServices } from '../../../src/content/git/smart-http.ts';
import {
  answerGitFetch,
  answerGitPush,
  answerGitRefs,
} from '../../../src/content/templates/workspace/git-face.ts';
import type { Method } from '../../../src/core/api/route.ts';
import { parseParts } from '../../../src/core/api/validate.ts';
import { MalformedRequestError, UnauthorizedError } from '../../../src/platform/errors.ts';
import { authorize, type Dispatcher, routerPath } from '../dispatch.ts';
import { gitPath, gitQuery, gitType, templatePath } from '../openapi/plain-routes.ts';

const inflate = promisify(gunzip);

/** Most bytes of a request to fetch, which only names commits. */
const mostFetchBytes = 1024 * 1024;
/** Most bytes of a push: the pack, and the commands before it. */
const mostPushBytes = packLimits.bytes + 64 * 1024;

/** Returns the password of Basic authentication (RFC 7617), or undefined. */
function passwordIn({ headers }: FastifyRequest): string | undefined {
  const [, encoded] = /^Basic +([\w+/=-]+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

/** Mounts the three paths of git. */
export function mountGit(server: FastifyInstance, dispatcher: Dispatcher): void {
  const { app, workload, bodies, streams } = dispatcher;
  const [fetches, pushes] = gitServices;

  /** Returns the caller and the template. Without a valid key it asks for a password. */
  async function letIn(
    request: FastifyRequest,
    reply: FastifyReply,
    service: GitService,
    method: Method,
  ) {
    const permission = service === 'git-upload-pack' ? 'templates:read' : 'templates:write';
    const way = { method, path: gitPath, permission } as const;
    try {
      const caller = await authorize(dispatcher, way, request, passwordIn(request));
      const { id } = parseParts({ path: { schema: templatePath, value: request.params } }).path as {
        id: string;
      };
      return { caller, id };
    } catch (error) {
      const isUnknown = error instanceof UnauthorizedError;
      if (isUnknown) reply.header('www-authenticate', 'Basic realm="svc", charset="UTF-8"');
      throw error;
    }
  }

  server.route({
    method: 'GET',
    url: routerPath(`${gitPath}/info/refs`),
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const { service: unchecked } = request.query as { service?: unknown };
      const needed = unchecked === pushes ? pushes : fetches;
      const { caller, id } = await workload.begin(() => letIn(request, reply, needed, 'GET'));
      const { service } = parseParts({ query: { schema: gitQuery, value: request.query } })
        .query as { service: GitService };
      const refs = await workload.runFor(caller.organizationId, () =>
        answerGitRefs(app, caller, id, service),
      );
      return reply.header('content-type', gitType(service, 'refs')).send(refs);
    },
  });

  server.route({
    method: 'POST',
    url: routerPath(`${gitPath}/${fetches}`),
    handler: async (request, reply) => {
      const { caller, id } = await workload.begin(() => letIn(request, reply, fetches, 'POST'));
      const { organizationId } = caller;
      const sent = await bodies.read(organizationId, request.raw, reply.raw, {
        types: [gitType(fetches, 'request')],
        mostBytes: mostFetchBytes,
        codings: ['gzip'],
      });
      const isPacked = request.headers['content-encoding'] === 'gzip';
      const body = isPacked ? await unpacked(sent) : sent;
      const texts = await workload.runFor(organizationId, () =>
        answerGitFetch(app, caller, id, body),
      );
      const type = gitType(fetches, 'result');
      const stream = streams.send(organizationId, { type, texts });
      return reply.header('content-type', type).send(stream);
    },
  });

  server.route({
    method: 'POST',
    url: routerPath(`${gitPath}/${pushes}`),
    handler: async (request, reply) => {
      const { caller, id } = await workload.begin(() => letIn(request, reply, pushes, 'POST'));
      const { organizationId } = caller;
      const body = await bodies.read(organizationId, request.raw, reply.raw, {
        types: [gitType(pushes, 'request')],
        mostBytes: mostPushBytes,
      });
      const report = await workload.runFor(organizationId, () =>
        answerGitPush(app, caller, id, body),
      );
      return reply.header('content-type', gitType(pushes, 'result')).send(report);
    },
  });
}

async function unpacked(body: Buffer): Promise<Buffer> {
  try {
    return (await inflate(body, { maxOutputLength: mostFetchBytes })) as Buffer;
  } catch {
    const text = `The body is not gzip of at most ${mostFetchBytes} bytes`;
    throw new MalformedRequestError(text);
  }
}
