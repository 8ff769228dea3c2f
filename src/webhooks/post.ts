// One POST to an endpoint: connects to a checked address, sends the body unchanged, reads a bounded response.
// Never throws: failures are in the outcome. Follows no redirect and reads no proxy variable. The only module
// that creates undici clients.
//
//   bound               | is                                           | then
//   --------------------+----------------------------------------------+-----------------------
//   time                | `webhooks.timeoutSeconds` for the whole of it | `timeout`
//   header              | 16 KB                                        | `response`
//   answer              | 64 KB read, 4 KB of text kept                | `response`
//   connections         | 10 to one origin, 30 s idle                  | the next one waits
//   origins             | 200, the one used longest ago is closed      |
import { connect, isIP, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import type { App } from '../core/app.ts';
import { handshake } from '../mail/smtp/tls.ts';
import { codeOf, messageOf } from '../platform/errors.ts';
import { dialSocket } from '../platform/net/dial.ts';
import { Answer, type ErrorClass, PostError } from './response.ts';
import { addressesOf, addressProblem, hostProblem, type Target, targetOf } from './url-rules.ts';

export const connectionsPerOrigin = 10;
const mostOrigins = 200;
const idleMs = 30_000;
const mostHeaderBytes = 16 * 1024;
const mostKept = 4 * 1024;
/** Addresses of one host to try in turn. */
const mostAddresses = 3;

export interface PostRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface PostOutcome {
  isSuccess: boolean;
  statusCode: number | null;
  errorClass: ErrorClass | null;
  /** Text of the response, or of the failure: at most 4 KB, without control characters. */
  response: string | null;
  /** Time of the response's Retry-After (RFC 9110 10.2.3), ms since 1970. */
  retryAt: number | null;
  durationMs: number;
}

export interface Poster {
  post(request: PostRequest): Promise<PostOutcome>;
  /** Aborts posts under way. */
  close(): Promise<void>;
}

type PosterParts = Pick<App, 'boundPorts' | 'clock' | 'config' | 'connect' | 'dns' | 'publicUrl'>;

/** The poster of one process. */
export function createPoster(app: PosterParts): Poster {
  const closing = new AbortController();
  const dying = new Set<Promise<void>>();
  const pools = new LRUCache<string, Pool>({
    max: mostOrigins,
    dispose(pool, _origin, reason) {
      // Lets running posts to an evicted origin finish.
      const end = (reason === 'evict' ? pool.close() : pool.destroy()).catch(() => {});
      dying.add(end);
      void end.finally(() => dying.delete(end));
    },
  });

  const poolOf = (url: URL): Pool => {
    // `URL` normalizes case and forms of addresses, so they create no second origin.
    let pool = pools.get(url.origin);
    if (!pool) {
      pool = openPool(app, url.origin, targetOf(url), closing.signal);
      pools.set(url.origin, pool);
    }
    return pool;
  };

  const underWay = new Set<Answer>();
  const { timeoutSeconds } = app.config.webhooks;

  return {
    async post(request) {
      const startedAt = app.clock.elapsed();
      const answer = new Answer();
      const late = () => answer.end(tooLate(`no complete answer within ${timeoutSeconds} s`));
      const cancel = app.clock.after(timeoutSeconds * 1000, late);
      underWay.add(answer);
      const outcome = await exchange(app, poolOf, request, answer).catch(failure);
      cancel();
      underWay.delete(answer);
      const durationMs = Math.max(0, Math.round(app.clock.elapsed() - startedAt));
      return { ...outcome, durationMs };
    },
    async close() {
      closing.abort();
      for (const answer of underWay) answer.end(tooLate('given up at our shutdown'));
      pools.clear();
      await Promise.all(dying);
    },
  };
}

type Exchanged = Omit<PostOutcome, 'durationMs'>;

function openPool(app: PosterParts, origin: string, target: Target, signal: AbortSignal): Pool {
  return new Pool(origin, {
    connections: connectionsPerOrigin,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    maxHeaderSize: mostHeaderBytes,
    // The clock of the app limits the whole exchange instead.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(_options, callback) {
      openConnection(app, target, signal).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error as Error, null),
      );
    },
  });
}

/** Connects to a checked address, without a second look-up in between. @throws PostError */
async function openConnection(
  app: PosterParts,
  target: Target,
  signal: AbortSignal,
): Promise<Socket> {
  const refusal = hostProblem(app, target);
  if (refusal !== null) throw new PostError('refused-address', refusal);
  const addresses = await addressesOf(app, target.host).catch((error: unknown) => {
    throw new PostError('dns', messageOf(error));
  });
  const problem = addressProblem(app, target, addresses);
  if (problem !== null) throw new PostError('refused-address', problem);
  const socket = await dialOneOf(app, addresses.slice(0, mostAddresses), target.port, signal);
  socket.setNoDelay(true);
  if (!target.isSecure) return socket;
  const { clock } = app;
  const { host } = target;
  const timeoutMs = app.config.webhooks.timeoutSeconds * 1000;
  return handshake({ socket, host, verifyCertificate: true, clock, timeoutMs }).catch(
    (error: unknown) => {
      throw new PostError('tls', messageOf(error));
    },
  );
}

async function dialOneOf(
  app: PosterParts,
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  const { clock } = app;
  const connector = app.connect ?? connect;
  const timeoutMs = (app.config.webhooks.timeoutSeconds * 1000) / addresses.length;
  let problem = 'its name has no address';
  for (const address of addresses) {
    try {
      return await dialSocket({ address, port, connector, clock, timeoutMs, signal });
    } catch (error) {
      problem = `${isIP(address) === 6 ? `[${address}]` : address}:${port}: ${messageOf(error)}`;
    }
  }
  throw new PostError('connect', problem);
}

async function exchange(
  app: PosterParts,
  poolOf: (url: URL) => Pool,
  { url: text, headers, body }: PostRequest,
  answer: Answer,
): Promise<Exchanged> {
  const url = new URL(text);
  const request = {
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'svc-webhooks/1',
    },
    body,
  };
  poolOf(url).dispatch(request, answer);
  const { statusCode, retryAfter, text: answered } = await answer.whole;
  const isSuccess = statusCode >= 200 && statusCode < 300;
  return {
    isSuccess,
    statusCode,
    errorClass: isSuccess ? null : 'status',
    response: shownText(answered),
    retryAt: retryAtOf(app, statusCode, retryAfter),
  };
}

function shownText(text: string): string | null {
  if (text === '') return null;
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]+/gu, ' ').trim();
  // Cuts by bytes, as a character may have several.
  const cut = Buffer.from(plain, 'utf8').subarray(0, mostKept).toString('utf8');
  return cut.replace(/\uFFFD{1,3}$/, '') || null;
}

const longestRetryMs = 24 * 3600_000;

/** Parses Retry-After, in seconds or as a date (RFC 9110 10.2.3); a day at most. */
function retryAtOf(
  { clock }: PosterParts,
  statusCode: number,
  header: string | string[] | undefined,
): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const now = clock.now();
  const at = /^[0-9]{1,15}$/.test(text) ? now + Number(text) * 1000 : httpDate(text);
  return at > now ? Math.min(at, now + longestRetryMs) : null;
}

function httpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? .{10,40}$/.test(text) ? Date.parse(text) : Number.NaN;
}

function tooLate(text: string): PostError {
  return new PostError('timeout', text);
}

function failure(error: unknown): Exchanged {
  const code = codeOf(error);
  const text = code === '' ? messageOf(error) : `${code}: ${messageOf(error)}`;
  const problem = error instanceof PostError ? error : new PostError('response', text);
  const { errorClass, statusCode, message } = problem;
  const response = shownText(message);
  return { isSuccess: false, statusCode, errorClass, response, retryAt: null };
}
