// The listeners of tracking hosts. `tracking.http` serves links and challenges; `tracking.https`
// serves them with the certificate of the host that a client names. Both are separate from the API,
// and serve no path of the API. requests.ts answers.
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { App } from '../../src/core/app.ts';
import { certificateContext } from '../../src/outbound/tracking/custom/certificates/served-certificates.ts';
import { codeOf, UnreachableError } from '../../src/platform/errors.ts';
import { CountedResponse } from '../http/answer-memory.ts';
import { affordableConnections, trackConnections } from '../http/connections.ts';
import { answer, type TrackingParts } from './requests.ts';

const bounds = {
  /** Time for the request line and the headers to arrive. */
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 8_192,
  ServerResponse: CountedResponse,
};
const mostConnections = 5_000;
const answerTimeoutMs = 30_000;
const handshakeTimeout = 10_000;

export interface TrackingListeners {
  /** Port of a listener; null if the listener is off. */
  httpPort: number | null;
  httpsPort: number | null;
  close(graceMs: number): Promise<void>;
}

interface Listening {
  port: number;
  close(graceMs: number): Promise<void>;
}

/**
 * Listens on the ports of `tracking.http` and `tracking.https`, if set.
 * @throws UnreachableError if that fails.
 */
export async function startTrackingListeners(parts: TrackingParts): Promise<TrackingListeners> {
  const { app } = parts;
  const { http, https } = app.config.tracking;
  const open: Listening[] = [];
  const close = async (graceMs: number) => {
    await Promise.all(open.map((one) => one.close(graceMs)));
  };
  const start = async (make: () => Server, key: string, at: { host: string; port: number }) => {
    const listening = await listen(app, watched(parts, make()), key, at);
    open.push(listening);
    return listening.port;
  };
  try {
    const { port: plain } = http;
    const { port: secure } = https;
    const httpPort =
      plain === null
        ? null
        : await start(() => createServer(bounds), 'tracking.http', { ...http, port: plain });
    const httpsPort =
      secure === null
        ? null
        : await start(() => secureServer(app), 'tracking.https', { ...https, port: secure });
    return { httpPort, httpsPort, close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

function secureServer(app: App): Server {
  const server = createSecureServer({
    ...bounds,
    handshakeTimeout,
    minVersion: 'TLSv1.2',
    SNICallback(name, done) {
      certificateContext(app, name).then(
        // Without a certificate for the name the handshake fails: no default certificate exists.
        (context) => done(context ? null : new Error('no such host'), context ?? undefined),
        (error: unknown) => {
          app.log.error({ err: error, hostname: name.slice(0, 253) }, 'no certificate for a host');
          done(new Error('no certificate'));
        },
      );
    },
  });
  // A client that sends no host name, or disconnects, needs no log line.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return server as unknown as Server;
}

function watched(parts: TrackingParts, server: Server) {
  const { app } = parts;
  const connections = trackConnections(app, {
    mostConnections: affordableConnections(mostConnections),
    answerTimeoutMs,
  });
  connections.watch(server);
  server.on('request', (request, response: CountedResponse) => {
    connections.serve(request, response, () => void answer(parts, request, response));
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    else socket.destroy();
  });
  return { server, closeIdle: () => connections.closeIdle() };
}

async function listen(
  app: App,
  { server, closeIdle }: ReturnType<typeof watched>,
  key: string,
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: 'another program listens there',
        EACCES: 'ports below 1024 need CAP_NET_BIND_SERVICE',
      };
      const code = codeOf(error);
      const text = `Cannot listen at ${key} ${host}:${port}: ${reasons[code] ?? code}`;
      reject(new UnreachableError(text, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  app.boundPorts.add(bound);
  return {
    port: bound,
    async close(graceMs) {
      const cancel = app.clock.after(graceMs, () => server.closeAllConnections());
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closeIdle();
      await closed;
      cancel();
    },
  };
}
