// Shared by the tests of SMTP sessions: opening one to a local server, a small message, waiting for
// the sink, and a server that sends exact bytes.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type OpenOptions, openSession } from '../../../src/mail/smtp/session/open.ts';
import type { SmtpSession } from '../../../src/mail/smtp/session/session.ts';
import type { SmtpMail } from '../../../src/mail/smtp/session/transaction.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';

/** Makes a message to `b@example.com`, with `changes`. */
export function mailOf(changes: Partial<SmtpMail> = {}): SmtpMail {
  return {
    from: 'a@sender.test',
    recipients: ['b@example.com'],
    data: [Buffer.from('From: a@sender.test\r\nSubject: hello\r\n\r\n'), Buffer.from('Hi.\r\n')],
    smtpUtf8: false,
    eightBit: false,
    ...changes,
  };
}

/** Tries to open a session, in plaintext by default. */
export function openTo(port: number, changes: Partial<OpenOptions> = {}) {
  return openSession({
    host: 'sink.test',
    address: '127.0.0.1',
    port,
    helloName: 'client.test',
    tls: 'none',
    verifyCertificate: false,
    allowClearAuth: false,
    clock: systemClock,
    connector: connect,
    ...changes,
  });
}

/** Opens a session, or throws. */
export async function sessionTo(
  port: number,
  changes: Partial<OpenOptions> = {},
): Promise<SmtpSession> {
  const opening = await openTo(port, changes);
  if (!opening.session) throw new Error(`${opening.fault.message}\n${opening.transcript}`);
  return opening.session;
}

/** Lets sockets proceed until `condition` holds. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 200_000; turn += 1) {
    if (condition()) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  throw new Error('the condition did not come true');
}

export interface RawServer {
  port: number;
  /** Everything the client sent so far. */
  readonly heard: string;
  close(): Promise<void>;
}

/** Starts a server that greets, and then answers each chunk of bytes by `answer`. */
export async function rawServer(
  greeting: string,
  answer: (heard: string, socket: Socket) => void,
): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let heard = '';
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(greeting);
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
      answer(bytes.toString('latin1'), socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    get heard() {
      return heard;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
