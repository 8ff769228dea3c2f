// `POST /mcp`: MCP over streamable HTTP, with an API key as bearer. Loaded at the first request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { outsideRanges } from '../../../src/access/keys/constraints.ts';
import { awaitInMailbox } from '../../../src/inbox/threads/expect.ts';
import { hiddenAmong } from '../../../src/outbound/messages/contents/hidden-words.ts';
import { ForbiddenError, UnauthorizedError } from '../../../src/platform/errors.ts';
import { sliceTurns } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import type { Connection } from '../../mcp/server.ts';
import { parseJson } from '../body.ts';
import { type Dispatcher, keyIn, longestKey } from '../dispatch.ts';
import { type Ask, askByKey } from '../faces.ts';
import { logUnauthorized } from '../unauthorized-log.ts';
import { visitorOf } from '../visitor.ts';

export const mcpPath = '/mcp';
/** Limits of the body: a call with arguments. */
const taken = { types: ['application/json'], mostBytes: 5_000_000 };
/** Most values in a call. The SDK checks and copies them several times in a single turn. */
const mostValues = 20_000;

/** Refuses methods except POST: without sessions there is nothing that a GET could stream. */
export function refuseMethod(reply: FastifyReply): FastifyReply {
  const message = 'MCP takes POST here: requests have no session';
  return reply.code(405).header('allow', 'POST').send({ _tag: 'MalformedRequestError', message });
}

/** Mounts the path; `ownOrigin` returns the address that browsers see. */
export function mountMcp(
  server: FastifyInstance,
  dispatcher: Dispatcher,
  { ask, ownOrigin, version }: { ask: Ask; ownOrigin: () => string; version: string },
): void {
  const { app, authenticate, bodies, workload } = dispatcher;
  let loading: Promise<typeof import('../../mcp/server.ts')> | undefined;

  const connect = (key: string, isReadOnly: boolean, request: FastifyRequest): Connection => ({
    caller: () => authenticate(key),
    ask: askByKey(
      ask,
      () => authenticate(key),
      () => ({ peer: visitorOf(app, request.raw), requestId: request.id }),
    ),
    hiddenIn: async (ids) => hiddenAmong(app, await authenticate(key), ids),
    awaitMail: async (wanted) => {
      const known = await authenticate(key);
      return known && awaitInMailbox(app, known.organizationId, wanted);
    },
    isReadOnly,
    version,
  });

  const letIn = async (request: FastifyRequest, reply: FastifyReply) => {
    // A page of any site may send requests to a server on this machine, so foreign origins are
    // refused.
    const { origin } = request.headers;
    if (origin !== undefined && origin !== ownOrigin()) {
      throw new ForbiddenError('Pages of other origins may not use /mcp');
    }
    const key = keyIn(request.headers);
    const caller =
      typeof key === 'string' && key.length <= longestKey ? await authenticate(key) : null;
    if (!caller || typeof key !== 'string') {
      reply.header('www-authenticate', 'Bearer realm="svc"');
      const error = new UnauthorizedError('Send a valid API key: Authorization: Bearer KEY');
      logUnauthorized(app, request, key, error);
      throw error;
    }
    const refusal = outsideRanges(caller, visitorOf(app, request.raw));
    if (refusal) throw refusal;
    return { caller, key };
  };

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { caller, key } = await workload.begin(() => letIn(request, reply));
    const body = await bodies.read(caller.organizationId, request.raw, reply.raw, taken);
    await sliceTurns('POST /mcp', caller.organizationId);
    const parsedBody = parseJson(body, mostValues);
    await sliceTurns();
    loading ??= import('../../mcp/server.ts');
    const { mcpOverHttp } = await loading;
    const handler = mcpOverHttp((token, isReadOnly) => connect(token, isReadOnly, request));
    const { readOnly } = request.query as { readOnly?: string };
    const scopes = readOnly === 'true' ? ['read-only'] : [];
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === 'string' && name !== 'authorization') headers.set(name, value);
    }
    const asked = new Request(`${ownOrigin()}${mcpPath}`, { method: request.method, headers });
    const authInfo = { token: key, clientId: caller.keyId ?? '', scopes };
    const answered = await handler.fetch(asked, { authInfo, parsedBody });
    answered.headers.forEach((value, name) => void reply.header(name, value));
    return reply.code(answered.status).send(Buffer.from(await answered.arrayBuffer()));
  };

  server.post(mcpPath, answer);
}
