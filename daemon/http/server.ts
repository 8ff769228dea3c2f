// The HTTP listener: fastify set up for hostile clients, the common headers, and the paths that are
// not routes (health, the OpenAPI document, the reference). dispatch.ts runs a route.
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { Route } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import type { EventKind } from '../../src/history/events/kinds.ts';
import {
  MalformedRequestError,
  ResourceNotFoundError,
  UnreachableError,
} from '../../src/platform/errors.ts';
import { urlAt } from '../../src/platform/net/network-address.ts';
import { program } from '../../src/platform/runtime/program.ts';
import type { Admit } from '../../src/service/door/door.ts';
import type { ConsoleParts } from '../console/site.ts';
import { acceptBacklog, whyNotListening } from '../port-holder.ts';
import { createBodyReader } from './body.ts';
import { answerClientError } from './client-error.ts';
import { affordableConnections, type Connections, trackConnections } from './connections.ts';
import { type Authenticate, type LimitHeaders, mountRoute } from './dispatch.ts';
import { jsonContentType, sendError, toServiceError } from './errors.ts';
import type { LoopDelay } from './event-loop.ts';
import { askWithin } from './faces.ts';
import { createHttpListener, type SocketLimits, standardSocketLimits } from './http-listener.ts';
import { mountDocuments } from './openapi/documents.ts';
import { mountClient } from './paths/client.ts';
import { mountConsole } from './paths/console.ts';
import { type DevClock, mountDevClock } from './paths/dev-clock.ts';
import { mountEventStreams } from './paths/event-stream.ts';
import { mountGit } from './paths/git.ts';
import { mountHealth } from './paths/health.ts';
import { mcpPath, mountMcp, refuseMethod } from './paths/mcp.ts';
import { mountReceiptKeys } from './paths/receipt-keys.ts';
import { mountStorage } from './paths/storage.ts';
import { mountTracking } from './paths/tracking.ts';
import { vendorHint } from './paths/vendors.ts';
import { createWaits } from './paths/waits.ts';
import { newRequestId, requestIdOf } from './request-id.ts';
import { createStreams } from './streams.ts';
import { openWorkload, type Workload } from './workload.ts';

/** An outgoing answer, for tests that check it against the schemas. */
export interface Exchange {
  /** Route of the request; undefined for health, documents and unknown paths. */
  route: Route | undefined;
  method: string;
  url: string;
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

export interface HttpServerOptions {
  routes: readonly Route[];
  /** Event kinds for the webhooks of the OpenAPI document. */
  eventKinds?: readonly EventKind[];
  authenticate: Authenticate;
  /** Signs people in to the console. Without it the server has no console. */
  sessions?: ConsoleParts['authenticator'];
  admit?: Admit;
  limitHeaders?: LimitHeaders;
  isQueueRunning: () => boolean;
  isDraining?: () => boolean;
  /** Clock for `/dev/clock`, if it is virtual. */
  virtualClock?: DevClock;
  /**
   * Meter of the event loop's delay; without it no delay refuses a request. The caller stops it.
   */
  loopDelay?: LoopDelay;
  /** Capacity shared with further listeners; by default the server has separate capacity. */
  workload?: Workload;
  socketLimits?: Partial<SocketLimits>;
  /**
   * Sees every answer before it is sent. An error thrown here replaces the answer by a 500. For
   * tests.
   */
  onResponse?: (exchange: Exchange) => void;
}

export interface HttpServer {
  /** Listens on `http.host` and `http.port`; throws UnreachableError if that fails. */
  listen(): Promise<{ url: string }>;
  /** Stops accepting, lets requests in progress end, and cuts the rest after the grace period. */
  close(graceMs?: number): Promise<void>;
  /** Answers a request without a socket; for tests. */
  inject: FastifyInstance['inject'];
}

const longestUrl = 8_192;

/** Creates the HTTP server for the given routes. No port is open before a call of `listen`. */
export function createHttpServer(app: App, options: HttpServerOptions): HttpServer {
  const { http } = app.config;
  const limits = { ...standardSocketLimits, ...options.socketLimits };
  const connections = trackConnections(app, {
    ...limits,
    mostConnections: affordableConnections(limits.mostConnections),
    onCount: (open) => app.metrics.connections.set(open),
  });
  const server = createFastify(app, limits, connections);
  let listeningUrl: string | null = null;

  addHooks(server, app, options.onResponse);
  const { isQueueRunning, isDraining = () => false } = options;
  mountHealth(server, app, { isQueueRunning, isDraining });
  const serverUrl = () => http.publicUrl ?? listeningUrl ?? '/';
  const workload = options.workload ?? openWorkload(app, options.loopDelay);
  mountDocuments(server, { ...options, serverUrl, clock: app.clock, workload });
  mountClient(server, workload);
  mountStorage(server, app, workload);
  mountReceiptKeys(server, app, workload);
  mountTracking(server, app, workload);
  const { admit, authenticate } = options;
  const ask = askWithin({ app, admit }, workload);
  const waits = createWaits();
  server.addHook('preClose', async () => waits.stop());
  const dispatcher = {
    app,
    authenticate,
    admit,
    limitHeaders: options.limitHeaders,
    bodies: createBodyReader(http.maxBodyBytes, app.clock),
    streams: createStreams(app.clock),
    waits,
    workload,
  };
  if (options.sessions && app.config.console.enabled) {
    mountConsole(server, { app, authenticator: options.sessions, ask, workload });
  }
  for (const route of options.routes) mountRoute(server, dispatcher, route);
  mountEventStreams(server, dispatcher);
  mountGit(server, dispatcher);
  if (app.config.mcp.enabled) {
    const ownOrigin = () => new URL(serverUrl() === '/' ? 'http://localhost' : serverUrl()).origin;
    mountMcp(server, dispatcher, { ask, ownOrigin, version: program.version });
  }
  if (options.virtualClock) mountDevClock(server, dispatcher, options.virtualClock);

  return {
    async listen() {
      const port = await listen(server, http.host, http.port);
      app.boundPorts.add(port);
      listeningUrl = urlAt(http.host, port);
      return { url: listeningUrl };
    },
    async close(graceMs = app.config.shutdownGraceSeconds * 1000) {
      const cancel = app.clock.after(graceMs, () => server.server.closeAllConnections());
      const closed = server.close();
      connections.closeIdle();
      await closed;
      cancel();
    },
    inject: server.inject.bind(server) as FastifyInstance['inject'],
  };
}

function createFastify(app: App, limits: SocketLimits, connections: Connections): FastifyInstance {
  const { requestTimeoutSeconds } = app.config.http;
  const server = fastify({
    logger: false,
    genReqId: (request) => requestIdOf(request.headers['x-request-id'], app.random),
    serverFactory: (handle) =>
      createHttpListener(limits, connections, { requestTimeoutSeconds, handle }),
    // By default a closing fastify answers 503 without our error body. With `false` it still serves
    // requests.
    return503OnClosing: false,
    routerOptions: { maxParamLength: longestUrl },
    clientErrorHandler: (error, socket) => {
      const reason = answerClientError(error, socket, newRequestId(app.random));
      if (reason) app.metrics.refused.inc({ reason });
    },
    frameworkErrors: (error, request, reply) => {
      const [plainRequest, plainReply] = [request as FastifyRequest, reply as FastifyReply];
      addCommonHeaders(plainRequest, plainReply);
      sendError(app, error, plainRequest, plainReply);
    },
  });
  // Stops fastify from reading bodies: dispatch.ts reads them after checking key and permission.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  return server;
}

function addHooks(
  server: FastifyInstance,
  app: App,
  onResponse: HttpServerOptions['onResponse'],
): void {
  server.addHook('onRequest', (request, reply, done) => {
    addCommonHeaders(request, reply);
    const isTooLong = request.url.length > longestUrl;
    done(isTooLong ? new MalformedRequestError(`The URL exceeds ${longestUrl} bytes`) : undefined);
  });
  server.addHook('onResponse', (request, reply, done) => {
    app.metrics.requestSeconds.observe(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
      },
      reply.elapsedTime / 1000,
    );
    done();
  });
  if (onResponse) addObserver(server, onResponse);
  server.setErrorHandler((error, request, reply) => sendError(app, error, request, reply));
  server.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    if (path === mcpPath && app.config.mcp.enabled) return refuseMethod(reply);
    const { method } = request;
    const error = new ResourceNotFoundError('route', `${method} ${path}`, vendorHint(method, path));
    return sendError(app, error, request, reply);
  });
}

function addObserver(
  server: FastifyInstance,
  onResponse: NonNullable<HttpServerOptions['onResponse']>,
): void {
  server.addHook('onSend', async (request, reply, payload) => {
    try {
      onResponse({
        route: request.routeOptions.config.route,
        method: request.method,
        url: request.url,
        status: reply.statusCode,
        headers: reply.getHeaders(),
        body: typeof payload === 'string' ? payload : '',
      });
      return payload;
    } catch (error) {
      reply.code(500).header('content-type', jsonContentType);
      return JSON.stringify(toServiceError(error));
    }
  });
}

/** Adds to every answer the request id, and forbids content sniffing and caching. */
function addCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('cache-control', 'no-store');
}

/** Begins to listen. Returns the bound port. @throws UnreachableError */
async function listen(server: FastifyInstance, host: string, port: number): Promise<number> {
  try {
    await server.listen({ host, port, backlog: acceptBacklog });
  } catch (error) {
    const text = whyNotListening(error, { host, port, section: 'http' });
    throw new UnreachableError(`Cannot listen for HTTP on ${text}`, { cause: error });
  }
  const address = server.server.address();
  return typeof address === 'object' && address ? address.port : port;
}
