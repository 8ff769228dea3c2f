// The path from a matched request to the route's answer. Checks run in this order: capacity, key,
// then the checks of the door (src/service/door/door.ts), with a malformed body between rate and
// fields. Routes are known only as data (src/core/api/route.ts).
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type KeyUse, keyUseOf } from '../../src/core/api/idempotency.ts';
import { everyPermission, type Permission } from '../../src/core/api/permission.ts';
import type {
  Caller,
  FileAnswer,
  Route,
  StreamedAnswer,
  StreamedBody,
} from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { MalformedRequestError, UnauthorizedError } from '../../src/platform/errors.ts';
import { sliceTurns } from '../../src/platform/runtime/fairness/loop-turns.ts';
import {
  type Admit,
  answer as answerOf,
  type Entrance,
  enter,
  isDryRun,
  letIn,
} from '../../src/service/door/door.ts';
import { type BodyReader, parseJson } from './body.ts';
import { jsonContentType } from './errors.ts';
import { hashedBody, keyOf, markingReplays, onceFor, withKey } from './idempotency.ts';
import { fileAnswer } from './paths/files.ts';
import type { Waits } from './paths/waits.ts';
import { passOverRest, type Streams } from './streams.ts';
import { logUnauthorized } from './unauthorized-log.ts';
import { visitorOf } from './visitor.ts';
import type { Workload } from './workload.ts';

/** Finds the caller of a key; null for a malformed, unknown, revoked or expired key. */
export type Authenticate = (plaintext: string) => Promise<Caller | null>;

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
  waits: Waits;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route of a request; undefined for health, documents and unknown paths. */
    route?: Route;
  }
}

/** Most characters of an API key; a longer key is not looked up. */
export const longestKey = 256;
const knownPermissions: ReadonlySet<string> = new Set(everyPermission());

/** Returns the path in the router's form: `/v1/messages/:id`. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/**
 * Mounts a route. Fails closed: for an unknown permission, or path parameters that differ from the
 * schema, it throws before any server listens.
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

/** A route with all values that can be computed before the first request. */
interface RoutePlan {
  route: Route;
  /** Name of the operation in the metric of stalls. */
  operation: string;
  headerNames: readonly string[];
  /** Deprecation headers, added to every answer. */
  ownHeaders: Record<string, string>;
  readsBody: boolean;
  needsBody: boolean;
  /** Whether the query takes `metadata.NAME=VALUE`. */
  takesMetadata: boolean;
  keyUse: KeyUse;
}

function planOf(route: Route): RoutePlan {
  return {
    route,
    operation: `${route.method} ${route.path}`,
    headerNames: route.headers instanceof z.ZodObject ? Object.keys(route.headers.shape) : [],
    ownHeaders: deprecationHeaders(route),
    readsBody: route.method !== 'GET' && !route.takes,
    needsBody: route.body !== undefined && route.bodyOptional !== true,
    takesMetadata: route.query instanceof z.ZodObject && 'metadata' in route.query.shape,
    keyUse: keyUseOf(route),
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
  const { takes, streams, waits } = plan.route;
  const way = takes || streams ? answerStreaming : waits ? answerLate : answer;
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
  const caller = await workload.begin(() => begin(dispatcher, route, request, reply));
  const { organizationId } = caller;
  const bytes = plan.readsBody
    ? await bodies.read(organizationId, request.raw, reply.raw)
    : undefined;
  let status: number = route.status;
  const output = await workload.runFor(organizationId, async () => {
    await sliceTurns(plan.operation, organizationId);
    const given = bytes && bodyOf(plan, bytes);
    const key = keyOf(plan.keyUse, request);
    const body = plan.keyUse === 'body' && key !== undefined ? withKey(given, key) : given;
    if (route.dryRun && isDryRun(body)) status = 200;
    // Without an escape in the body, no JSON string can contain a forbidden character.
    const hasPlainBody = !bytes?.includes('\\u');
    await sliceTurns();
    const once = plan.keyUse === 'claim' && key !== undefined;
    const around = once ? onceFor(app, caller, route, key) : undefined;
    const input = { ...partsOf(plan, request), body, hasPlainBody, around };
    const work = () => answerOf(app, caller, route, input);
    return withLimits(dispatcher, caller, route, reply, () =>
      markingReplays(request, reply, plan.keyUse, work),
    );
  });
  reply.code(status);
  if (route.sendsFile) return fileAnswer(reply, output as FileAnswer);
  if (route.writesCsv && (request.query as { format?: unknown }).format === 'csv') {
    reply.header('content-type', 'text/csv; charset=utf-8');
    return route.writesCsv(output);
  }
  reply.header('content-type', jsonContentType);
  return JSON.stringify(output);
}

/**
 * Answers a route that streams. Path and query are checked first, as the route reads the body while
 * it runs. Only the limits of body and answer bound the time.
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
  const caller = await workload.begin(() => begin(dispatcher, route, request, reply));
  const key = keyOf(plan.keyUse, request);
  const run = async (taken?: StreamedBody) => {
    await sliceTurns(plan.operation, caller.organizationId);
    const parts = partsOf(plan, request);
    if (!taken) return answerOf(app, caller, route, parts);
    if (key === undefined) return answerOf(app, caller, route, { ...parts, stream: taken });
    const stream = hashedBody(taken);
    const around = onceFor(app, caller, route, key, stream);
    const work = () => answerOf(app, caller, route, { ...parts, stream, around });
    return markingReplays(request, reply, plan.keyUse, work);
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

/**
 * Answers a route that waits for events. A waiting request is not counted as in work. The key is
 * checked again before the answer.
 */
async function answerLate(
  dispatcher: Dispatcher,
  plan: RoutePlan,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { app, workload, waits } = dispatcher;
  const { route } = plan;
  reply.headers(plan.ownHeaders);
  const letIn = () => workload.begin(() => begin(dispatcher, route, request, reply));
  const caller = await letIn();
  const { organizationId } = caller;
  const answered = waits.run(organizationId, reply.raw, async (signal) => {
    await sliceTurns(plan.operation, organizationId);
    return answerOf(app, caller, route, { ...partsOf(plan, request), signal });
  });
  await answered.then(letIn, letIn);
  const output = await answered;
  reply.code(route.status).header('content-type', jsonContentType);
  return JSON.stringify(output);
}

/** Runs the checks before the body is read: key, and the checks of the door. */
async function begin(
  dispatcher: Dispatcher,
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const caller = await callerOf(dispatcher, request);
  const { id } = request.params as { id?: string };
  const from = { peer: visitorOf(dispatcher.app, request.raw), id };
  const check = () => enter(dispatcher, caller, route, from);
  await (route.drawsOnSendRate ? withLimits(dispatcher, caller, route, reply, check) : check());
  return caller;
}

/** Returns the caller of a key; records an invalid key in the log. @throws UnauthorizedError */
async function callerOf(
  { app, authenticate }: Pick<Dispatcher, 'app' | 'authenticate'>,
  request: FastifyRequest,
  key: string | string[] | undefined = keyIn(request.headers),
): Promise<Caller> {
  return identify(authenticate, key).catch((error: unknown) => {
    if (error instanceof UnauthorizedError) logUnauthorized(app, request, key, error);
    throw error;
  });
}

/**
 * Returns the caller after the first checks of the door, for a path that is not a route. The
 * permission may depend on the caller. @throws UnauthorizedError, ForbiddenError.
 */
export async function authorize(
  dispatcher: Pick<Dispatcher, 'app' | 'authenticate'>,
  { permission, ...at }: Omit<Entrance, 'permission'> & { permission: NeededBy },
  request: FastifyRequest,
  key?: string,
): Promise<Caller> {
  const caller = await callerOf(dispatcher, request, ...(key === undefined ? [] : [key]));
  const needed = typeof permission === 'string' ? permission : permission(caller);
  const { id } = request.params as { id?: string };
  const from = { peer: visitorOf(dispatcher.app, request.raw), id };
  await letIn(dispatcher.app, caller, { ...at, permission: needed }, from);
  return caller;
}

type NeededBy = Permission | ((caller: Caller) => Permission);

/** Adds the remaining rate limits to the answer after `work`, even if it fails. */
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

/**
 * Matches the form of a key that HTTP clients and proxies send by default (RFC 6750, 2.1).
 * `X-API-Key` takes precedence.
 */
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
  return undefined;
}

function partsOf(plan: RoutePlan, { params, query, headers }: FastifyRequest) {
  const given = query as Record<string, unknown>;
  return {
    params: params as object,
    query: plan.takesMetadata ? withPairs(given) : given,
    headers: pick(headers, plan),
  };
}

const metadataPrefix = 'metadata.';

/** Returns the query with `metadata.NAME=VALUE` as `metadata=NAME=VALUE`. */
function withPairs(query: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(query).filter((name) => name.startsWith(metadataPrefix));
  if (names.length === 0) return query;
  const pairs = names.flatMap((name) =>
    [query[name]].flat().map((value) => `${name.slice(metadataPrefix.length)}=${value}`),
  );
  const others = Object.entries(query).filter(([name]) => !names.includes(name));
  const given = query['metadata'] === undefined ? [] : [query['metadata']].flat();
  return { ...Object.fromEntries(others), metadata: [...given, ...pairs] };
}

/** Returns only the headers that the route declares. */
function pick(headers: IncomingHttpHeaders, { headerNames }: RoutePlan): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of headerNames) {
    if (headers[name] !== undefined) picked[name] = headers[name];
  }
  return picked;
}
