// A lean HTTP load: keep-alive connections over raw sockets, one request at a time on each. A full
// client would take the core that the daemon needs.
import { connect, type Socket } from 'node:net';

export interface LoadResult {
  seconds: number;
  accepted: number;
  /** Status code → count, other than 201. */
  refused: Map<number, number>;
  /** Milliseconds of each request, sorted. */
  latenciesMs: number[];
}

/** Returns the path of the request with this number. */
type PathOf = (index: number) => string;

const headEnd = Buffer.from('\r\n\r\n');

/** Posts `total` bodies over `connections` connections to the loopback `port`. */
export async function postAll(
  port: number,
  {
    apiKey,
    path,
    connections,
    total,
  }: { apiKey: string; path: string | PathOf; connections: number; total: number },
  body: (index: number) => string,
): Promise<LoadResult> {
  const result: LoadResult = { seconds: 0, accepted: 0, refused: new Map(), latenciesMs: [] };
  let next = 0;
  const request = (): Buffer | null => {
    if (next >= total) return null;
    const text = body(next);
    const target = typeof path === 'string' ? path : path(next);
    next += 1;
    return Buffer.from(
      `POST ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  };
  const started = performance.now();
  await Promise.all(
    Array.from({ length: connections }, () => oneConnection(port, request, result)),
  );
  result.seconds = (performance.now() - started) / 1000;
  result.latenciesMs.sort((a, b) => a - b);
  return result;
}

function oneConnection(
  port: number,
  request: () => Buffer | null,
  result: LoadResult,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let pending = Buffer.alloc(0);
    let sentAt = 0;
    const send = () => {
      const bytes = request();
      if (!bytes) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(bytes);
    };
    socket.once('connect', send);
    socket.once('error', reject);
    socket.on('data', (chunk) => {
      pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
      const head = pending.indexOf(headEnd);
      if (head < 0) return;
      const text = pending.toString('latin1', 0, head);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      pending = Buffer.alloc(0);
      const status = Number(text.slice(9, 12));
      if (status === 201) result.accepted++;
      else result.refused.set(status, (result.refused.get(status) ?? 0) + 1);
      result.latenciesMs.push(performance.now() - sentAt);
      send();
    });
  });
}

/** Returns the quantile of the sorted values for `share` (0 to 1). */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
