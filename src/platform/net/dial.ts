// Opens a TCP connection to an address that the caller has checked, with a time-out and an abort at
// shutdown. src/mail/smtp/session/open.ts and src/platform/net/http speak SMTP and HTTPS over the
// connection.
import type { Socket } from 'node:net';
import type { Clock } from '../runtime/clock.ts';

/**
 * Function that opens a TCP connection. A test passes a function that fails, to prove that an
 * address is never dialled.
 */
export type Connector = (options: { host: string; port: number }) => Socket;

export interface DialOptions {
  address: string;
  port: number;
  connector: Connector;
  clock: Clock;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Resolves with the connected socket. A failure destroys the socket and rejects. */
export function dialSocket(options: DialOptions): Promise<Socket> {
  const { connector, clock, address, port, timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const socket = connector({ host: address, port });
    const cancel = clock.after(timeoutMs, () => {
      fail(new Error(`no connection within ${timeoutMs / 1000} s`));
    });
    const onAbort = () => fail(new Error('given up at our shutdown'));
    const onClose = () => fail(new Error('the connection was closed'));
    function release() {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    }
    function fail(error: Error) {
      release();
      socket.destroy();
      reject(error);
    }
    socket.on('error', fail).once('close', onClose);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) return onAbort();
    const onConnect = () => {
      release();
      socket.off('error', fail).off('close', onClose);
      resolve(socket);
    };
    if (socket.connecting) socket.once('connect', onConnect);
    else onConnect();
  });
}
