// The sockets of the HTTP server: Node's listener with limits for hostile clients. server.ts
// answers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CountedResponse } from './answer-memory.ts';
import type { ConnectionLimits, Connections } from './connections.ts';

/**
 * Bounds on a connection. They are not in the configuration, because only attackers and tests reach
 * them.
 */
export interface SocketLimits extends ConnectionLimits {
  /** Time for the request line and the headers to arrive. */
  headersTimeoutMs: number;
  /** Time for the whole request to arrive, such as 40 MB of attachments over a slow line. */
  requestTimeoutMs: number;
  /** Interval of the checks of `headersTimeoutMs` and `requestTimeoutMs`. */
  checkEveryMs: number;
  /** Longest time between an answer and the next request. */
  keepAliveTimeoutMs: number;
}

export const standardSocketLimits: SocketLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 300_000,
  checkEveryMs: 5_000,
  /** Longer than the minute of proxies, so that the proxy closes first. */
  keepAliveTimeoutMs: 72_000,
  mostConnections: 10_000,
  answerTimeoutMs: 300_000,
};
/** Time beyond the time limit of a request, after which a connection without traffic is dropped. */
const quietConnectionMs = 120_000;
const maxHeaderBytes = 16_384;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Creates a listener whose requests run in the turns of `connections`. */
export function createHttpListener(
  limits: SocketLimits,
  connections: Connections,
  { requestTimeoutSeconds, handle }: { requestTimeoutSeconds: number; handle: Handle },
): Server {
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    ServerResponse: CountedResponse,
  });
  server.setTimeout(requestTimeoutSeconds * 1000 + quietConnectionMs);
  // Without the last two listeners, Node sends `100 Continue` before the key is checked, and a text
  // of its own for 417.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) {
    server.on(event, (request: IncomingMessage, response: CountedResponse) =>
      connections.serve(request, response, () => handle(request, response)),
    );
  }
  connections.watch(server);
  return server;
}
