// A service with its HTTP server for the tests of daemon/http: routes of the test's own, keys that
// are words, every response checked against the OpenAPI document, and access to the log.
import { PassThrough } from 'node:stream';
import { z } from 'zod';
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from '../../daemon/http/server.ts';
import { allPermissions, type PermissionMap } from '../../src/core/api/permission.ts';
import { type Caller, type Route, route } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { ConfigInput } from '../../src/core/config/config.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { type OpenApiCheck, openApiCheck } from '../support/openapi-check.ts';
import { emptyTestApp } from '../support/test-app.ts';
import type { VirtualClock } from '../support/virtual-clock.ts';

export interface HttpServiceOptions
  extends Partial<Omit<HttpServerOptions, 'routes' | 'onResponse'>> {
  routes?: readonly Route[];
  config?: ConfigInput['http'];
  shutdownGraceSeconds?: number;
  store?: Partial<App['store']>;
}

export interface HttpService {
  app: App;
  clock: VirtualClock;
  http: HttpServer;
  check: OpenApiCheck;
  /** Returns the lines logged since the last call. */
  logged(): Record<string, unknown>[];
  close(): Promise<void>;
}

export const ownerKey = 'owner';

/** Creates a caller with these permissions, in a made-up organization. */
function callerWith(permissions: PermissionMap, last = 'a'): Caller {
  return {
    organizationId: `org_00000000000000000000000${last}`,
    by: { kind: 'key', keyId: 'key_00000000000000000000000a' },
    keyId: 'key_00000000000000000000000a',
    lineage: 'key_00000000000000000000000a',
    keyName: null,
    permissions,
    roleName: 'custom',
    owner: 'service',
    isTest: false,
    constraints: null,
    sendMode: 'send',
    installation: null,
  };
}

/** Owners of organizations other than that of `owner`. */
const otherOwners = new Map([
  ['second', 'b'],
  ['third', 'c'],
]);

/** Authenticates `owner` with all permissions, `reader` for messages, and the other owners. */
export async function authenticateWord(word: string): Promise<Caller | null> {
  if (word === ownerKey) return callerWith(allPermissions);
  const other = otherOwners.get(word);
  if (other) return callerWith(allPermissions, other);
  return word === 'reader' ? callerWith({ messages: ['read'] }) : null;
}

/** Returns its request. */
export const echo = route({
  method: 'POST',
  path: '/v1/things/{id}/echo',
  name: 'echoThing',
  summary: 'Say it again',
  area: 'messages',
  permission: 'messages:send',
  params: z.strictObject({ id: z.string().regex(/^thing_[0-9]{4}$/, 'is not a thing id') }),
  query: z.strictObject({ loud: z.stringbool().optional() }),
  headers: z.object({ 'idempotency-key': z.string().min(1).max(8).optional() }),
  body: z.strictObject({ text: z.string(), to: z.array(z.strictObject({ email: z.email() })) }),
  drawsOnSendRate: true,
  status: 201,
  output: z.object({ id: z.string(), text: z.string(), key: z.string().nullable() }),
  errors: [402, 409, 502],
  run: async (_app, { params, body, headers }) => ({
    id: params.id,
    text: body.text,
    key: headers['idempotency-key'] ?? null,
  }),
});

export const goodEcho = {
  method: 'POST' as const,
  url: '/v1/things/thing_0001/echo',
  headers: { 'x-api-key': ownerKey, 'content-type': 'application/json' },
  payload: '{"text":"hello","to":[]}',
};

/** Returns a GET route that runs the test's function. */
export function getRoute(path: Route['path'], run: Route['run']): Route {
  const definition = route({
    method: 'GET',
    path,
    name: `get${path.replaceAll(/\W/g, '_')}`,
    summary: 'Do it',
    area: 'messages',
    permission: 'messages:read',
    status: 200,
    output: z.unknown(),
    errors: [402, 409, 502],
    run: async () => null,
  });
  return { ...definition, run };
}

/** Starts the server without listening; the test calls `http.listen()` if it needs to. */
export async function httpService(options: HttpServiceOptions = {}): Promise<HttpService> {
  const { routes = [echo], config, shutdownGraceSeconds = 10, store, ...rest } = options;
  const { app, clock, close } = await emptyTestApp({
    config: { http: config, shutdownGraceSeconds },
  });
  const lines = new PassThrough();
  const log = await createLogger({ level: 'info', pretty: false, destination: lines });
  const check = openApiCheck(routes);
  const ownApp: App = { ...app, log, store: { ...app.store, ...store } };
  const http = createHttpServer(ownApp, {
    authenticate: authenticateWord,
    isQueueRunning: () => true,
    ...rest,
    routes,
    onResponse: check.onResponse,
  });
  return {
    app: ownApp,
    clock,
    http,
    check,
    logged: () => {
      const text = String(lines.read() ?? '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    async close() {
      await http.close();
      await close();
    },
  };
}
