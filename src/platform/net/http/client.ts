// The client of outgoing HTTP: posts of webhooks, the policy files of MTA-STS, RDAP and certificate
// authorities. Connects only to addresses that the guard allows, limits the time of each exchange,
// and reads a bounded response. Follows no redirect and reads no proxy variable. Only this file
// creates undici clients.
//
//   limit               | value                                        | error beyond the limit
//   --------------------+----------------------------------------------+-----------------------
//   time                | `timeoutMs` for the whole exchange           | `timeout`
//   header              | 16 KB                                        | `response`
//   answer              | `mostBytes`                                  | `response`
//   connections         | `connectionsPerOrigin`, 30 s idle            | none: requests wait
//   origins             | 200; the least recently used is closed       |
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { messageOf } from '../../errors.ts';
import { AnswerReader, type HttpAnswer, HttpError } from './answer.ts';
import {
  type AddressGuard,
  type HttpParts,
  openConnection,
  publicOnly,
  targetOf,
} from './connect.ts';

const mostOrigins = 200;
const idleMs = 30_000;
const mostHeaderBytes = 16 * 1024;
const mostBytesOfFile = 64 * 1024;

export interface HttpRequest {
  url: URL;
  method: 'GET' | 'HEAD' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

export interface HttpBounds {
  guard: AddressGuard;
  /** Time limit of an exchange, from the look-up to the last byte, in ms. */
  timeoutMs: number;
  /**
   * Time limit in ms for the TCP connection, and again for the TLS handshake. Default: `timeoutMs`.
   */
  connectMs?: number;
  /** Most bytes of the body of a response. */
  mostBytes: number;
  connectionsPerOrigin: number;
}

export interface HttpClient {
  /**
   * Resolves with the complete response of any status.
   * @throws HttpError, or the error of the connection
   */
  ask(request: HttpRequest): Promise<HttpAnswer>;
  /** Aborts running exchanges. */
  close(): Promise<void>;
}

export function createHttpClient(parts: HttpParts, bounds: HttpBounds): HttpClient {
  const closing = new AbortController();
  const dying = new Set<Promise<void>>();
  const pools = new LRUCache<string, Pool>({
    max: mostOrigins,
    dispose(pool, _origin, reason) {
      // Running exchanges with an evicted origin may finish.
      const end = (reason === 'evict' ? pool.close() : pool.destroy()).catch(() => {});
      dying.add(end);
      void end.finally(() => dying.delete(end));
    },
  });
  const poolOf = (url: URL): Pool => {
    // `URL` normalizes case and forms of addresses, so equal origins share a pool.
    let pool = pools.get(url.origin);
    if (!pool) {
      pool = openPool(parts, bounds, url, closing.signal);
      pools.set(url.origin, pool);
    }
    return pool;
  };
  const underWay = new Set<AnswerReader>();
  const { timeoutMs, mostBytes } = bounds;

  return {
    async ask({ url, method, headers, body }) {
      const answer = new AnswerReader(mostBytes);
      const late = `no complete answer within ${timeoutMs / 1000} s`;
      const cancel = parts.clock.after(timeoutMs, () => answer.end(new HttpError('timeout', late)));
      underWay.add(answer);
      try {
        const path = `${url.pathname}${url.search}`;
        const all = { ...headers, 'accept-encoding': 'identity' };
        poolOf(url).dispatch({ method, path, headers: all, body: body ?? null }, answer);
        return await answer.whole;
      } finally {
        cancel();
        underWay.delete(answer);
      }
    },
    async close() {
      closing.abort();
      for (const answer of underWay) {
        answer.end(new HttpError('timeout', 'given up at our shutdown'));
      }
      pools.clear();
      await Promise.all(dying);
    },
  };
}

function openPool(parts: HttpParts, bounds: HttpBounds, url: URL, signal: AbortSignal): Pool {
  const { guard, timeoutMs, connectMs = timeoutMs, connectionsPerOrigin } = bounds;
  const opening = { target: targetOf(url), guard, timeoutMs: connectMs, signal };
  return new Pool(url.origin, {
    connections: connectionsPerOrigin,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: mostHeaderBytes,
    // No time-outs of undici: the clock of the app limits the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(_options, callback) {
      openConnection(parts, opening).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error as Error, null),
      );
    },
  });
}

/** Time limits of an exchange, in ms. */
export interface Patience {
  connectMs: number;
  totalMs: number;
}

/**
 * Gets a file of at most 64 KB from a foreign host: HTTPS at port 443, and by default only public
 * addresses.
 * @throws Error that names the obstacle
 */
export async function getFromStranger(
  parts: HttpParts,
  url: URL,
  accept: string,
  { connectMs, totalMs: timeoutMs }: Patience,
  options: { guard?: AddressGuard; signal?: AbortSignal } = {},
): Promise<HttpAnswer> {
  if (url.protocol !== 'https:' || url.port !== '' || url.username !== '') {
    throw new Error(`${url.origin} is not asked: only HTTPS at port 443 is`);
  }
  const { guard = publicOnly, signal } = options;
  const bounds = {
    guard,
    timeoutMs,
    connectMs,
    mostBytes: mostBytesOfFile,
    connectionsPerOrigin: 1,
  };
  return askOnce(parts, bounds, { url, method: 'GET', headers: { accept } }, signal);
}

/**
 * Sends a request over a new connection. Aborting `signal` ends the request.
 * @throws Error with a text that begins with the host, and the original error as the cause
 */
export async function askOnce(
  parts: HttpParts,
  bounds: HttpBounds,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const client = createHttpClient(parts, bounds);
  const end = () => void client.close();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const answer = client.ask(request);
    if (signal?.aborted) end();
    return await answer;
  } catch (error) {
    throw new Error(`${request.url.hostname}: ${messageOf(error)}`, { cause: error });
  } finally {
    signal?.removeEventListener('abort', end);
    await client.close();
  }
}
