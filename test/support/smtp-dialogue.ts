// A raw SMTP client for tests of servers. It sends exactly the given bytes, and reads single
// replies.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

export interface Dialogue {
  /** Writes bytes without waiting for anything. */
  write(bytes: string | Buffer): void;
  /**
   * Returns the next reply, with lines joined by
   * . Rejects if the connection ends before it.
   */
  reply(): Promise<string>;
  /** Writes a line and reads the reply. */
  say(line: string): Promise<string>;
  /** Starts TLS, after the reply to STARTTLS. */
  secure(options?: ConnectionOptions): Promise<void>;
  /** Resolves once this many bytes arrived outside of replies; drops them. */
  swallow(byteCount: number): Promise<void>;
  /** Resolves when the server has closed the connection, with 'reset' or the last text. */
  closed(): Promise<string>;
  end(): void;
}

/** Connects to 127.0.0.1, from `localAddress` of loopback. The greeting is the first reply. */
export async function smtpDialogue(port: number, localAddress = '127.0.0.1'): Promise<Dialogue> {
  let stream: Socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(stream, 'connect');
  let read = '';
  let ended: string | undefined;
  const waiting: (() => void)[] = [];
  const wake = () => {
    for (const proceed of waiting.splice(0)) proceed();
  };

  function listen(): void {
    stream.on('data', (bytes: Buffer) => {
      read += bytes.toString('utf8');
      wake();
    });
    stream.on('error', (error: NodeJS.ErrnoException) => {
      ended = error.code === 'ECONNRESET' ? 'reset' : error.message;
      wake();
    });
    stream.on('close', () => {
      ended ??= 'end';
      wake();
    });
  }

  async function reply(): Promise<string> {
    for (;;) {
      const found = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(read);
      if (found) {
        read = read.slice(found[0].length);
        return found[0].trimEnd().replaceAll('\r\n', '\n');
      }
      if (ended !== undefined) throw new Error(`closed (${ended}) after: ${read.slice(0, 200)}`);
      await woken();
    }
  }

  const woken = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
    });

  listen();
  return {
    write: (bytes) => stream.write(bytes),
    reply,
    say(line) {
      stream.write(`${line}\r\n`);
      return reply();
    },
    async secure(options) {
      stream.removeAllListeners('data');
      const secured = connectTls({ socket: stream, rejectUnauthorized: false, ...options });
      stream = secured;
      listen();
      await once(secured, 'secureConnect');
    },
    async swallow(byteCount) {
      while (read.length < byteCount) await woken();
      read = read.slice(byteCount);
    },
    async closed() {
      while (ended === undefined) await woken();
      return ended === 'reset' ? ended : read;
    },
    end: () => stream.destroy(),
  };
}
