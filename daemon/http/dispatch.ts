// The path from a matched request to the route's answer. Checks run in this order: capacity, key,
// permission, rate limit, malformed body, fields. The route itself checks existence and state.
// Routes are known only as data (src/core/api/route.ts).
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Place, refusedAtDoor } from '../../src/access/keys/constraints.ts';
import { everyPermission, type Permission } from '../../src/core/api/permission.ts';
import type {
  Caller,
  FileAnswer,
  Route,
  StreamedAnswer,
  StreamedBody,
} from '../../src/core/api/route.ts';
import { parseParts, requestSchemas } from '../../src/core/api/validate.ts';
import type { App } from '../../src/core/app.ts';
import { beyondNamespace } from '../../src/identity/mailboxes/bound-keys.ts';
import { MalformedRequestError, UnauthorizedError } from '../../src/platform/errors.ts';
import { sliceTurns } from '../../src/platform/runtime/turns.ts';
import { type BodyReader, parseJson } from './body.ts';
import { jsonContentType } from './errors.ts';
import { fileAnswer } from './files.ts';
import { passOverRest, type Streams } from './streams.ts';
import { logUnauthorized } from './unauthorized-log.ts';
import type { Workload } from './workload.ts';

/** Looks a key up; null for a malformed, unknown, revoked or expired one. */
export type Authenticate = (plaintext: string) => Promise<Caller | null>;

/** Draws on the rate limits (specification 8.1); throws RateLimitedError. */
export type Admit = (caller: Caller, route: Route) => Promise<void>;

/** Returns the rate limit headers; called after `Admit`, and again after the route ran. */
export type LimitHeaders = (caller: Caller) => Record<string, string>;

export interface Dispatcher {
  app: App;
  authenticate: Authenticate;
  admit: Admit | undefined;
  limitHeaders: LimitHeaders | undefined;
  workload: Workload;
  bodies: BodyReader;
  streams: Streams;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route of a request; undefined for health, documents and unknown paths. */
    route?: Route;
  }
}

/** Characters of an API key; a longer one is not looked up. */
export const longestKey = 256;
const knownPermissions: ReadonlySet<string> = new Set(everyPermission());

/** Returns the path in the router's form: `/v1/messages/:id`. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/**
 * Mounts a route. Fails closed: a route without a known permission, or with path parameters other than in its
 * schema, throws here, before any server listens.
 */
export function mountRoute(server: FastifyInstance, dispatcher: Dispatcher, route: Route): void {
  assertMountable(route);
  const plan = planOf(route);
  server.route({
    method: route.method,
    url: routerPath(route.path),
    config: { route },
    handler: (request, reply) => handle(dispatcher, plan, request, reply),
  });
}

function assertMountable(route: Route): void {
  const { method, path, permission, params, takes, streams, body } = route;
  if (streams && method !== 'GET') throw new Error(`${method} ${path}: only a GET streams`);
  if (takes && (body || method === 'GET')) {
    throw new Error(`${method} ${path}: takes a stream, and no other body`);
  }
  if (!knownPermissions.has(permission)) {
    throw new Error(`${method} ${path}: unknown permission ${permission}`);
  }
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inSchema = params instanceof z.ZodObject ? Object.keys(params.shape) : [];
  if (inPath.length !== inSchema.length || !inPath.every((name) => inSchema.includes(name))) {
    throw new Error(`${method} ${path}: the path and its schema name different parameters`);
  }
}

/** A route with everything that can be computed before the first request. */
interface RoutePlan {
  route: Route;
  /** Names the requests in the metric of stalls. */
  operation: string;
  schemas: ReturnType<typeof requestSchemas>;
  headerNames: readonly string[];
  /** Deprecation headers, added to every answer. */
  ownHeaders: Record<string, string>;
  readsBody: boolean;
  needsBody: boolean;
  /** Replacement for a missing body. */
  emptyBody: unknown;
}

function planOf(route: Route): RoutePlan {
  const schemas = requestSchemas(route);
  return {
    route,
    operation: `${route.method} ${route.path}`,
    schemas,
    headerNames: route.headers instanceof z.ZodObject ? Object.keys(route.headers.shape) : [],
    ownHeaders: deprecationHeaders(route),
    readsBody: route.method !== 'GET' && !route.takes,
    needsBody: route.body !== undefined && route.bodyOptional !== true,
    emptyBody: schemas.body.safeParse(undefined).success ? undefined : {},
  };
}

/** Returns the headers of a deprecated route (RFC 9745, RFC 8594). */
function deprecationHeaders({ deprecated }: Route): Record<string, string> {
  if (!deprecated) return {};
  const { since, sunset } = deprecated;
  const deprecation = { deprecation: `@${Math.floor(Date.parse(since) / 1000)}` };
  if (sunset === undefined) return deprecation;
  return { ...deprecation, sunset: new Date(sunset).toUTCString() };
}

function handle(
  dispatcher: Dispatcher,
  plan: RoutePlan,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { takes, streams } = plan.route;
  const way = takes || streams ? answerStreaming : answer;
  return way(dispatcher, plan, request, reply);
}

async function answer(
  dispatcher: Dispatcher,
  plan: RoutePlan,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | Buffer> {
  const { app, workload, bodies } = dispatcher;
  const { route } = plan;
  reply.headers(plan.ownHeaders);
  const caller = await workload.begin(() => letIn(dispatcher, route, request, reply));
  const { organizationId } = caller;
  const bytes = plan.readsBody
    ? await bodies.read(organizationId, request.raw, reply.raw)
    : undefined;
  let status: number = route.status;
  const output = await workload.runFor(organizationId, async () => {
    await sliceTurns(plan.operation, organizationId);
    const body = bytes && bodyOf(plan, bytes);
    // Without an escape, a JSON string cannot contain a forbidden character.
    const hasPlainBody = !bytes?.includes('\\u');
    await sliceTurns();
    const input = validate(plan, request, body, hasPlainBody);
    const isDry = (input.body as { dryRun?: boolean } | undefined)?.dryRun === true;
    const { run } = (isDry && route.dryRun) || route;
    if (run !== route.run) status = 200;
    return withLimits(dispatcher, caller, route, reply, () => run(app, { caller, ...input }));
  });
  reply.code(status);
  if (route.sendsFile) return fileAnswer(reply, output as FileAnswer);
  reply.header('content-type', jsonContentType);
  return JSON.stringify(output);
}

/**
 * Answers a route that streams. The route reads the body while it runs, so path and query are
 * checked before. Its time is bounded only by the limits of body and answer.
 */
async function answerStreaming(
  dispatcher: Dispatcher,
  plan: RoutePlan,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { app, workload, streams } = dispatcher;
  const { route } = plan;
  reply.headers(plan.ownHeaders);
  const caller = await workload.begin(() => letIn(dispatcher, route, request, reply));
  const run = async (stream?: StreamedBody) => {
    await sliceTurns(plan.operation, caller.organizationId);
    const input = validate(plan, request, undefined, true);
    return route.run(app, { caller, ...input, ...(stream && { stream }) });
  };
  reply.code(route.status);
  if (route.streams) {
    const answer = (await workload.runFor(caller.organizationId, run)) as StreamedAnswer;
    const stream = streams.send(caller.organizationId, answer);
    return reply.header('content-type', `${answer.type}; charset=utf-8`).send(stream);
  }
  try {
    const streamed = { route, request: request.raw, response: reply.raw };
    const output = await streams.take(caller.organizationId, streamed, run);
    return reply.header('content-type', jsonContentType).send(JSON.stringify(output));
  } finally {
    passOverRest(request.raw, reply.raw);
  }
}

/** Runs the checks before the body is read: key, client address, permission and rate limit. */
async function letIn(
  dispatcher: Dispatcher,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const { method, path } = route;
  const { id } = request.params as { id?: string };
  const caller = await authorize(dispatcher, route.permission, request, { method, path, id });
  if (route.drawsOnSendRate) {
    await withLimits(dispatcher, caller, route, reply, async () =>
      dispatcher.admit?.(caller, route),
    );
  }
  return caller;
}

/**
 * Returns the caller after the checks of key, client address, reach and permission, which may depend on the
 * caller. A key of single mailboxes reaches nothing without a `place`.
 * @throws UnauthorizedError, ForbiddenError.
 */
export async function authorize(
  { app, authenticate }: Pick<Dispatcher, 'app' | 'authenticate'>,
  permission: Permission | ((caller: Caller) => Permission),
  request: FastifyRequest,
  place?: Place,
  key: string | string[] | undefined = keyIn(request.headers),
): Promise<Caller> {
  const caller = await identify(authenticate, key).catch((error: unknown) => {
    if (error instanceof UnauthorizedError) logUnauthorized(app, request, key, error);
    throw error;
  });
  const needed = typeof permission === 'string' ? permission : permission(caller);
  const refusal = refusedAtDoor(caller, request.raw.socket.remoteAddress, needed, place);
  if (refusal) throw refusal;
  if (caller.constraints?.namespaceId !== undefined) await beyondNamespace(app, caller, place?.id);
  return caller;
}

/** Adds the remaining rate limits to the answer after `work`, also if it fails. */
async function withLimits<T>(
  { limitHeaders }: Dispatcher,
  caller: Caller,
  { drawsOnSendRate }: Route,
  reply: FastifyReply,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } finally {
    if (drawsOnSendRate && limitHeaders) reply.headers(limitHeaders(caller));
  }
}

/** The form that HTTP clients and proxies send by default (RFC 6750, 2.1); `X-API-Key` takes precedence. */
const bearer = /^Bearer +(\S+) *$/i;

/** Returns the key of a request, as it was sent. */
export function keyIn(headers: IncomingHttpHeaders): string | string[] | undefined {
  const key = headers['x-api-key'];
  return key === undefined || key === '' ? bearer.exec(headers.authorization ?? '')?.[1] : key;
}

async function identify(
  authenticate: Authenticate,
  key: string | string[] | undefined,
): Promise<Caller> {
  if (key === undefined || key === '') {
    throw new UnauthorizedError('An API key is missing: send it in the X-API-Key header');
  }
  const isPlausible = typeof key === 'string' && key.length <= longestKey;
  const caller = isPlausible ? await authenticate(key) : null;
  if (!caller) throw new UnauthorizedError('The API key is not valid');
  return caller;
}

function bodyOf(plan: RoutePlan, bytes: Buffer): unknown {
  const body = parseJson(bytes);
  if (body !== undefined) return body;
  if (plan.needsBody) throw new MalformedRequestError('The body is missing: send JSON');
  return plan.emptyBody;
}

function validate(plan: RoutePlan, request: FastifyRequest, body: unknown, isPlain: boolean) {
  const { route, schemas, readsBody } = plan;
  const { path, ...input } = parseParts({
    path: { schema: schemas.path, value: request.params },
    query: { schema: schemas.query, value: request.query },
    headers: { schema: route.headers, value: pick(request.headers, plan) },
    body: { schema: readsBody ? schemas.body : undefined, value: body, isPlain },
  });
  return { ...input, params: path };
}

/** Returns only the headers that the route declares. */
function pick(headers: IncomingHttpHeaders, { headerNames }: RoutePlan): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of headerNames) {
    if (headers[name] !== undefined) picked[name] = headers[name];
  }
  return picked;
}
