// The receiving side of the benchmark in a process of its own: takes all mail over SMTP, counts all
// and signed messages, and stores nothing. As lean as the load: the sink of the tests
// (test/support/smtp-sink.ts), which stores and misbehaves, used a tenth of the machine.
import { createServer, type Socket } from 'node:net';
import { standardExtensions } from '../support/smtp-sink.ts';

const commandEnd = Buffer.from('\r\n');
const messageEnd = Buffer.from('\r\n.\r\n');
const signature = Buffer.from('DKIM-Signature:');
const greeting = ['sink.bench', ...standardExtensions, 'SIZE 52428800'];
const ehloReply = greeting
  .map((line, index) => `250${index < greeting.length - 1 ? '-' : ' '}${line}\r\n`)
  .join('');
const goodbye = '221 2.0.0 bye\r\n';
const replies: Readonly<Record<string, string>> = {
  EHLO: ehloReply,
  HELO: '250 sink.bench\r\n',
  MAIL: '250 2.1.0 ok\r\n',
  RCPT: '250 2.1.5 ok\r\n',
  DATA: '354 go on\r\n',
  RSET: '250 2.0.0 ok\r\n',
  NOOP: '250 2.0.0 ok\r\n',
  QUIT: goodbye,
};

/** Delay of the round trip in ms; commands that arrive together are answered together after it. */
const delayMs = Number(process.argv[2] ?? 0);

let received = 0;
let signed = 0;
let onReceived: () => void = () => {};

function take(message: Buffer): string {
  received++;
  if (message.includes(signature)) signed++;
  onReceived();
  return '250 2.0.0 taken\r\n';
}

function serve(socket: Socket): void {
  let pending: Buffer = Buffer.alloc(0);
  let isMessage = false;
  /** Returns the reply to the first whole command in `pending`, or null without one. */
  const next = (): string | null => {
    const end = isMessage ? messageEnd : commandEnd;
    const at = pending.indexOf(end);
    if (at < 0) return null;
    const whole = pending.subarray(0, at);
    pending = pending.subarray(at + end.length);
    if (isMessage) {
      isMessage = false;
      return take(whole);
    }
    const verb = whole.toString('latin1', 0, 4).toUpperCase();
    isMessage = verb === 'DATA';
    return replies[verb] ?? '502 5.5.1 unknown\r\n';
  };
  const say = (answer: string): void => {
    socket.write(answer);
    if (answer.endsWith(goodbye)) socket.end();
  };
  // Timers of one length fire in the order in which they were set.
  const reply = (answer: string): void => {
    if (delayMs > 0) setTimeout(say, delayMs, answer);
    else say(answer);
  };
  reply('220 sink.bench ESMTP\r\n');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    let answer = '';
    for (let one = next(); one !== null; one = next()) {
      answer += one;
    }
    if (answer !== '') reply(answer);
  });
}

/**
 * Reports to the parent when `count` messages have arrived since the start, or that the deadline
 * passed.
 */
function waitFor({ count, deadlineMs }: { count: number; deadlineMs: number }): void {
  const tell = (error?: string) => {
    clearTimeout(timer);
    onReceived = () => {};
    process.send?.({ received, signed, error });
  };
  const timer = setTimeout(() => {
    tell(`${received} of ${count} messages after ${deadlineMs} ms`);
  }, deadlineMs);
  onReceived = () => {
    if (received >= count) tell();
  };
  onReceived();
}

const server = createServer({ noDelay: true }, serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
});
process.on('message', waitFor);
process.once('disconnect', () => process.exit(0));
