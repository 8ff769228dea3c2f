// Sends a question to a DNS server over UDP, or TCP if the answer does not fit (RFC 7766). Each
// question has a separate socket, so that the source port is random and no socket stays open.
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Clock } from '../runtime/clock.ts';

export interface DnsServer {
  host: string;
  port: number;
}

/** The error after a time-out, or after an abort by `signal`. */
export class NoAnswer extends Error {}

export interface Exchange<T> {
  server: DnsServer;
  question: Buffer;
  /**
   * Parses an answer. Returns undefined for bytes that do not answer the question; throws for a
   * malformed answer.
   */
  read: (bytes: Buffer) => T | undefined;
  timeoutMs: number;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Runs `start` until it resolves or rejects, times out or is aborted by `signal`. Then calls the
 * clean-up that `start` returned.
 */
function bounded<T>(
  { timeoutMs, clock, signal }: Exchange<T>,
  start: (resolve: (value: T) => void, reject: (error: Error) => void) => () => void,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = start(resolve, reject);
  const cancel = clock.after(timeoutMs, () => reject(new NoAnswer(`no answer in ${timeoutMs} ms`)));
  const onAbort = () => reject(new NoAnswer('look-ups were stopped'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return promise.finally(() => {
    cancel();
    signal.removeEventListener('abort', onAbort);
    stop();
  });
}

/**
 * Sends the question over UDP. Ignores answers to different questions while waiting, so that a
 * forged answer gains nothing.
 * @throws NoAnswer, or the error of the network or of `read`.
 */
export function askOverUdp<T>(exchange: Exchange<T>): Promise<T> {
  const { server, question, read } = exchange;
  return bounded(exchange, (resolve, reject) => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4');
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      try {
        const answer = read(bytes);
        if (answer !== undefined) resolve(answer);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    // The socket is connected, so the kernel drops foreign datagrams and reports a closed port.
    socket.connect(server.port, server.host, () => socket.send(question));
    return () => {
      socket.removeAllListeners('message');
      socket.close();
    };
  });
}

/**
 * Sends the question over TCP. The length prefix bounds an answer to 64 KB. @throws as
 * `askOverUdp`.
 */
export function askOverTcp<T>(exchange: Exchange<T>): Promise<T> {
  const { server, question, read } = exchange;
  return bounded(exchange, (resolve, reject) => {
    const socket = connect(server);
    let received: Buffer = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed before it answered')));
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      try {
        const answer = read(received.subarray(2, 2 + received.readUInt16BE(0)));
        if (answer === undefined) throw new Error('answered something else');
        resolve(answer);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(question.length);
    socket.write(Buffer.concat([length, question]));
    return () => socket.destroy();
  });
}
