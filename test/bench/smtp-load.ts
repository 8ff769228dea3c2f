// A lean SMTP submission load for any server, the counterpart of http-load.ts for our API:
// persistent connections over raw sockets, commands pipelined (RFC 2920) so that a message costs
// one round trip.
import { connect, type Socket } from 'node:net';
import type { LoadResult } from './http-load.ts';

export interface SmtpLoad {
  port: number;
  connections: number;
  total: number;
  /** An API key to log in with. */
  apiKey?: string;
  from: string;
  to(index: number): string;
  /** The message with CRLF line ends, no line starting with a dot. */
  message(index: number): string;
}

/** Submits all messages; a message counts as accepted with the 250 to its dot. */
export async function submitAll(load: SmtpLoad): Promise<LoadResult> {
  const result: LoadResult = { seconds: 0, accepted: 0, refused: new Map(), latenciesMs: [] };
  let next = 0;
  const take = () => (next < load.total ? next++ : null);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: load.connections }, () => oneConnection(load, take, result)),
  );
  result.seconds = (performance.now() - started) / 1000;
  result.latenciesMs.sort((a, b) => a - b);
  return result;
}

/** Reply codes of the pipelined commands of a message before its text. */
const envelopeCodes = ['250', '250', '354'];

/*
 * banner → hello → envelope (MAIL, RCPT, DATA in one write) → text: its dot, and with it the next
 * envelope or QUIT, in one write → dot (the 250) → envelope …
 */
async function oneConnection(
  load: SmtpLoad,
  take: () => number | null,
  result: LoadResult,
): Promise<void> {
  const socket: Socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  const replies = readReplies(socket);
  const ask = async (expected: string) => {
    const { value: line, done } = await replies.next();
    if (done || !line.startsWith(expected)) {
      throw new Error(`expected ${expected}, the server said: ${line ?? '(closed)'}`);
    }
  };
  const envelope = (index: number) =>
    `MAIL FROM:<${load.from}>\r\nRCPT TO:<${load.to(index)}>\r\nDATA\r\n`;
  try {
    await ask('220');
    socket.write('EHLO bench.example\r\n');
    await ask('250');
    if (load.apiKey !== undefined) {
      socket.write(`AUTH PLAIN ${Buffer.from(`\0bench\0${load.apiKey}`).toString('base64')}\r\n`);
      await ask('235');
    }
    let index = take();
    if (index !== null) socket.write(envelope(index));
    while (index !== null) {
      for (const code of envelopeCodes) await ask(code);
      const following = take();
      const sentAt = performance.now();
      const then = following === null ? 'QUIT\r\n' : envelope(following);
      socket.write(`${load.message(index)}.\r\n${then}`);
      await ask('250');
      result.accepted++;
      result.latenciesMs.push(performance.now() - sentAt);
      index = following;
    }
  } finally {
    socket.destroy();
  }
}

/** The last line of each reply, in order. */
async function* readReplies(socket: Socket): AsyncGenerator<string, undefined> {
  let rest = '';
  for await (const chunk of socket) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line[3] !== '-') yield line;
  }
  return undefined;
}
