// A real SMTP server for tests. It accepts all mail, and misbehaves as scripted (the benchmark has
// a smaller server, test/bench/sink-process.ts). smtp-server is not used: it greets only after 100
// ms, and cannot break the protocol.
import { createServer, type Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type Clock, systemClock } from '../../src/platform/runtime/clock.ts';
import type { Greylist } from './greylist.ts';
import { createSinkScript, type SinkReply, type SinkRule } from './smtp-sink-script.ts';
import { type SinkMessage, SinkSession } from './smtp-sink-session.ts';
import { testCert, testKey } from './test-cert.ts';

export interface SmtpSinkOptions {
  /** Address to listen on; default 127.0.0.1. */
  host?: string;
  /** Port to listen on; default 0, any free port. */
  port?: number;
  hostname?: string;
  /** EHLO keywords besides STARTTLS and AUTH. */
  extensions?: readonly string[];
  /** Messages above this are refused with 552. */
  maxBytes?: number;
  /** Key and certificate; by default from test-cert.ts. `false` disables STARTTLS. */
  tls?: false | SecureContextOptions;
  /** TLS from the first byte (RFC 8314) instead of STARTTLS. */
  implicitTls?: boolean;
  /** Requires this login, by AUTH PLAIN or LOGIN. */
  auth?: { user: string; pass: string };
  /** Whether to store messages and commands (default); `false` only counts messages. */
  keep?: boolean;
  /** Clock for replies that are sent byte by byte. */
  clock?: Clock;
}

export interface SmtpSink {
  readonly host: string;
  readonly port: number;
  readonly messages: readonly SinkMessage[];
  /** Number of accepted messages, stored or not. */
  readonly received: number;
  /** Every received command line, without SASL answers and messages. */
  readonly commands: readonly { sessionId: number; line: string }[];
  /** Open sessions, until QUIT or the loss of their connection. */
  readonly connections: { readonly now: number; readonly peak: number; readonly total: number };
  /**
   * Adds a scripted reply; the first rule that applies gives the reply. Returns a function that
   * removes the rule.
   */
  on(rule: SinkRule, reply: SinkReply): () => void;
  /** From now on refuses recipients with a triplet that is new to this list. */
  greylist(list: Greylist): void;
  /**
   * Resolves with all messages once `count` have arrived. Rejects after `deadlineMs` of real time.
   */
  waitFor(count: number, deadlineMs?: number): Promise<readonly SinkMessage[]>;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

export const standardExtensions = [
  'PIPELINING',
  '8BITMIME',
  'SMTPUTF8',
  'CHUNKING',
  'DSN',
  'ENHANCEDSTATUSCODES',
];

/** Starts a sink. Resolves when it listens. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const { host = '127.0.0.1', maxBytes = 52_428_800, keep = true, implicitTls = false } = options;
  const script = createSinkScript();
  const messages: SinkMessage[] = [];
  const commands: { sessionId: number; line: string }[] = [];
  const sockets = new Set<Socket>();
  const connections = { now: 0, peak: 0, total: 0 };
  /** Sessions before their QUIT: the client may open a new connection once it has the reply. */
  const open = new Set<number>();
  const waiting = new Set<() => void>();
  let received = 0;

  const sessionHost = {
    hostname: options.hostname ?? 'sink.test',
    extensions: options.extensions ?? [...standardExtensions, `SIZE ${maxBytes}`],
    secureContext:
      options.tls === false
        ? undefined
        : createSecureContext({ key: testKey, cert: testCert, ...options.tls }),
    credentials: options.auth,
    maxBytes,
    keep,
    greylist: undefined as Greylist | undefined,
    clock: options.clock ?? systemClock,
    script,
    onCommand(sessionId: number, line: string) {
      if (keep) commands.push({ sessionId, line });
      if (/^quit$/i.test(line)) open.delete(sessionId);
      connections.now = open.size;
    },
    onMessage(message: SinkMessage) {
      received += 1;
      if (keep) messages.push(message);
      for (const check of waiting) check();
    },
  };

  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    connections.total += 1;
    const sessionId = connections.total;
    open.add(sessionId);
    connections.now = open.size;
    connections.peak = Math.max(connections.peak, connections.now);
    socket.on('close', () => {
      sockets.delete(socket);
      open.delete(sessionId);
      connections.now = open.size;
    });
    new SinkSession(sessionHost, sessionId, socket, implicitTls);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  return {
    host,
    port,
    messages,
    commands,
    connections,
    get received() {
      return received;
    },
    on: script.on,
    greylist(list) {
      sessionHost.greylist = list;
    },
    waitFor(count, deadlineMs = 10_000) {
      return new Promise((resolve, reject) => {
        const cancel = systemClock.after(deadlineMs, () => {
          waiting.delete(check);
          reject(new Error(`${received} of ${count} messages after ${deadlineMs} ms${sample()}`));
        });
        const check = () => {
          if (received < count) return;
          cancel();
          waiting.delete(check);
          resolve(messages);
        };
        waiting.add(check);
        check();
      });
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };

  function sample(): string {
    const came = messages.map(({ recipients }) => recipients.join(',')).slice(0, 10);
    const heard = commands.slice(-10).map(({ line }) => line);
    return `\nfor: ${came.join(' ') || 'none'}\nlast commands: ${heard.join(' | ') || 'none'}`;
  }
}
