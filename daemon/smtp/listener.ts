// The inbound SMTP face (contract 8): smtp-server set up for hostile clients, and its start and stop.
// It takes mail for our own addresses only and never relays. Recipients and messages are
// transaction.ts, bounds limits.ts.
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { App } from '../../src/app.ts';
import { ConfigError, UnreachableError } from '../../src/errors.ts';
import { whyNotListening } from '../port-holder.ts';
import { type SmtpLimits, standardSmtpLimits } from './limits.ts';
import { MemoryBudget } from './mail-collector.ts';
import { logRefusal } from './mail-log.ts';
import { Sessions } from './sessions.ts';
import { addRecipient, beginTransaction, type Reception, receiveData } from './transaction.ts';

export interface SmtpListener {
  /** Listens where `smtp.inbound.host` and `port` say; throws UnreachableError if that fails. */
  listen(): Promise<{ port: number }>;
  /**
   * Stops accepting and sends idle clients away; a message on its way in is stored and answered
   * within `graceMs`, then what is left is cut.
   */
  close(graceMs: number): Promise<void>;
}

/** Not for us: no AUTH (nobody sends through here), no jokes, no trusted proxies. */
const disabledCommands = ['AUTH', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'];
const longestCommandBytes = 2_048;
/** The library's own timers; those of sessions.ts and `close` are shorter. */
const never = 2 ** 31 - 1;

/** The configured certificate; without one STARTTLS is off, never the library's public key. */
function readCertificate(app: App): { key: Buffer; cert: Buffer } | null {
  const { certFile, keyFile } = app.config.smtp.inbound.tls;
  if (certFile === null || keyFile === null) return null;
  try {
    const certificate = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    createSecureContext(certificate);
    return certificate;
  } catch (error) {
    const reason = (error as Error).message;
    throw new ConfigError(`smtp.inbound.tls: the certificate cannot be used: ${reason}`);
  }
}

function optionsOf(reception: Reception): SMTPServerOptions {
  const { app, limits, sessions } = reception;
  const certificate = readCertificate(app);
  return {
    name: app.config.delivery.hostname,
    heloResponse: '%s greets you',
    size: app.config.smtp.inbound.maxMessageBytes,
    maxRecipients: limits.recipients,
    maxCommandLength: longestCommandBytes,
    disabledCommands: certificate ? disabledCommands : [...disabledCommands, 'STARTTLS'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    socketTimeout: never,
    closeTimeout: never,
    logger: false,
    ...certificate,
    onMailFrom(address, about, callback) {
      const session = sessions.find(about);
      const refusal = session && beginTransaction(reception, session, address, about);
      if (session && refusal) logRefusal(app, 'MAIL', session, refusal);
      callback(refusal);
    },
    onRcptTo({ address }, about, callback) {
      const session = sessions.find(about);
      if (!session) return callback();
      void addRecipient(reception, session, address, about).then((refusal) => {
        if (refusal) logRefusal(app, 'RCPT', session, refusal, address);
        sessions.answer(session, () => callback(refusal));
      });
    },
    onData(stream, about, callback) {
      const session = sessions.find(about);
      if (session) receiveData(reception, session, stream, about, callback);
      else stream.resume();
    },
    onClose: (about) => sessions.end(about),
  };
}

class InboundServer extends SMTPServer {
  readonly #sessions: Sessions;
  readonly #app: App;

  constructor(reception: Reception) {
    super(optionsOf(reception));
    this.#sessions = reception.sessions;
    this.#app = reception.app;
  }

  /** As in the library, with our own kind of connection. */
  override connect(socket: Socket): void {
    const connection = this.#sessions.begin(this, socket);
    if (!connection) return;
    this.connections.add(connection);
    connection.on('error', (error: Error) => {
      this.#app.log.debug({ err: error }, 'an SMTP connection failed');
    });
    connection.init();
  }
}

function listenOn(server: InboundServer, host: string, port: number): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const text = whyNotListening(error, { host, port, section: 'smtp.inbound' });
      reject(new UnreachableError(`Cannot listen for SMTP on ${text}`, { cause: error }));
    });
    server.listen({ host, port }, () => {
      const address = server.server.address();
      resolve({ port: typeof address === 'object' && address ? address.port : port });
    });
  });
}

/**
 * The inbound listener of one daemon; listens only when told to. `limits` is for tests.
 * @throws ConfigError when the configured certificate cannot be used.
 */
export function createSmtpListener(app: App, limits: Partial<SmtpLimits> = {}): SmtpListener {
  const { host, port, maxConnections, maxMessageBytes } = app.config.smtp.inbound;
  const bounds = { ...standardSmtpLimits, ...limits };
  const sessions = new Sessions(app.clock, bounds, maxConnections);
  const budget = new MemoryBudget(Math.max(bounds.bufferedBytes, maxMessageBytes));
  const server = new InboundServer({ app, limits: bounds, sessions, budget });
  return {
    async listen() {
      const bound = await listenOn(server, host, port);
      server.on('error', (error) => app.log.error({ err: error }, 'the SMTP listener failed'));
      return bound;
    },
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.stop();
      const cancel = app.clock.after(graceMs, () => sessions.destroyAll());
      await closed;
      cancel();
    },
  };
}
