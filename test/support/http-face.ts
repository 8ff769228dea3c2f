// HTTP servers with all routes, which the tests of a process use in sequence: mounting the routes
// takes longer than most tests. If a server still works when its test closes it, it is closed and
// not used again.
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { Route } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { type OpenApiCheck, openApiCheck } from './openapi-check.ts';
import { standIn } from './stand-in.ts';

/** The app that a server serves now. */
interface Served {
  app: App;
  authenticate: (
    plaintext: string,
  ) => ReturnType<ReturnType<typeof createAuthenticator>['authenticate']>;
  check: OpenApiCheck;
}

interface PooledServer {
  server: HttpServer;
  serve(served: Served): void;
}

/** The routes over an app. Every answer is checked against the OpenAPI document. */
export interface HttpFace {
  inject: HttpServer['inject'];
  /** All faults that were found in answers. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

/** Free servers, by the HTTP configuration that a server reads at its start. */
const free = new Map<string, PooledServer[]>();

/** Returns a stand-in for the served app, for parts that a server reads once and keeps. */
function followed(served: () => Served): App {
  const clock = standIn(() => served().app.clock);
  const random = standIn(() => served().app.random);
  return new Proxy({} as App, {
    get(_target, name) {
      if (name === 'clock') return clock;
      return name === 'random' ? random : Reflect.get(served().app, name);
    },
  });
}

/** Returns a route that runs with the app served at that moment. */
function routeOf(route: Route, app: () => App): Route {
  const { dryRun } = route;
  return {
    ...route,
    run: (_app, request) => route.run(app(), request),
    ...(dryRun && { dryRun: { ...dryRun, run: (_app, request) => dryRun.run(app(), request) } }),
  };
}

function makePooled(first: Served): PooledServer {
  let served = first;
  const server = createHttpServer(
    followed(() => served),
    {
      // Keeps state by app under the served app.
      routes: routes.map((route) => routeOf(route, () => served.app)),
      authenticate: (plaintext) => served.authenticate(plaintext),
      isQueueRunning: () => true,
      onResponse: (exchange) => served.check.onResponse(exchange),
    },
  );
  return {
    server,
    serve(next) {
      served = next;
    },
  };
}

/**
 * Requests outside of the routes get a separate server, as much of their state belongs to an app.
 */
const isRoute = (url: string) => url.startsWith('/v1/') && !url.startsWith('/v1/events/stream');

function ownServer(app: App, { authenticate, check }: Served): HttpServer {
  return createHttpServer(app, {
    routes,
    authenticate,
    isQueueRunning: () => true,
    onResponse: check.onResponse,
  });
}

/** Returns the HTTP face of this app. */
export function httpFace(app: App): HttpFace {
  const authenticator = createAuthenticator(app);
  const check = openApiCheck(routes);
  const served: Served = {
    app,
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    check,
  };
  const key = JSON.stringify([app.config.http, app.config.shutdownGraceSeconds]);
  const idle = free.get(key) ?? [];
  free.set(key, idle);
  const pooled = idle.pop() ?? makePooled(served);
  pooled.serve(served);
  let own: HttpServer | undefined;
  let atWork = 0;
  let isClosed = false;
  const inject = async (request: { url: string }) => {
    if (isClosed) throw new Error('the face of this app is closed');
    own = isRoute(request.url) ? own : (own ?? ownServer(app, served));
    const server = isRoute(request.url) ? pooled.server : own;
    atWork++;
    try {
      return await server?.inject(request);
    } finally {
      atWork--;
    }
  };
  return {
    inject: inject as HttpServer['inject'],
    faults: check.faults,
    async close() {
      if (isClosed) return;
      isClosed = true;
      await own?.close();
      if (atWork > 0) await pooled.server.close();
      else idle.push(pooled);
    },
  };
}
