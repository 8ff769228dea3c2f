// The common part of our SMTP listeners: smtp-server set up for hostile clients, with start and
// stop. listener.ts and submission.ts decide about clients and mail.
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { App } from '../../src/core/app.ts';
import { UnreachableError } from '../../src/platform/errors.ts';
import { acceptBacklog, whyNotListening } from '../port-holder.ts';
import type { Certificate, KeyPair } from './certificate.ts';
import type { Sessions } from './sessions.ts';

export interface SmtpListener {
  /** Listens on the configured address; throws UnreachableError if that fails. */
  listen(): Promise<{ port: number }>;
  /** Uses a renewed certificate at once. */
  reload(): void;
  /**
   * Stops accepting and closes idle connections. Stores and answers incoming messages within
   * `graceMs`, then cuts the rest.
   */
  close(graceMs: number): Promise<void>;
}

/** Parts in which the two SMTP listeners differ. */
export interface SmtpFace {
  app: App;
  sessions: Sessions;
  certificate: Certificate | null;
  /** The address, from `section` of the configuration. */
  address: { readonly host: string; readonly port: number; readonly section: string };
  options: SMTPServerOptions;
}

/** Commands disabled for safety: joke commands and commands for trusted proxies. */
const disabledCommands = ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'];
const longestCommandBytes = 2_048;
/** Disables the library's own timers; the timers of sessions.ts and `close` are shorter. */
const never = 2 ** 31 - 1;
/** Longest time for a TLS handshake before the first byte of SMTP. */
const handshakeMs = 30_000;

function optionsOf({ app, certificate, options }: SmtpFace): SMTPServerOptions {
  return {
    name: app.config.delivery.hostname,
    heloResponse: '%s greets you',
    maxCommandLength: longestCommandBytes,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    socketTimeout: never,
    closeTimeout: never,
    logger: false,
    ...certificate?.initial,
    ...options,
    disabledCommands: [
      ...disabledCommands,
      ...(certificate ? [] : ['STARTTLS']),
      ...(options.disabledCommands ?? []),
    ],
  };
}

class FaceServer extends SMTPServer {
  readonly #face: SmtpFace;

  constructor(face: SmtpFace) {
    super(optionsOf(face));
    this.#face = face;
    this.server.prependListener('connection', (socket: Socket) => this.#begin(socket));
  }

  /** Overrides the library's method, which would create its own kind of connection. */
  override connect(socket: Socket): void {
    const { app, sessions } = this.#face;
    const connection = sessions.begin(this, socket);
    if (!connection) return;
    this.connections.add(connection);
    connection.on('error', (error: Error) => {
      app.log.debug({ err: error }, 'an SMTP connection failed');
    });
    connection.init();
  }

  /** Gives new connections this certificate; null changes nothing. */
  use(renewed: KeyPair | null): void {
    if (renewed) this.updateSecureContext({ ...renewed });
  }

  #begin(socket: Socket): void {
    const { app, certificate, options } = this.#face;
    this.use(certificate?.renewed() ?? null);
    if (!options.secure) return;
    // Destroys the library's socket: to destroy the TCP socket would end the process.
    const cancel = app.clock.after(handshakeMs, () => this._pendingSockets.get(socket)?.destroy());
    socket.once('close', cancel);
  }
}

function listenOn(server: FaceServer, address: SmtpFace['address']) {
  const { host, port } = address;
  return new Promise<{ port: number }>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const text = whyNotListening(error, address);
      reject(new UnreachableError(`Cannot listen for SMTP on ${text}`, { cause: error }));
    });
    server.listen({ host, port, backlog: acceptBacklog }, () => {
      const bound = server.server.address();
      resolve({ port: typeof bound === 'object' && bound ? bound.port : port });
    });
  });
}

/** Creates a listener of a daemon. No port is open before a call of `listen`. */
export function createListener(face: SmtpFace): SmtpListener {
  const { app, sessions } = face;
  const server = new FaceServer(face);
  return {
    async listen() {
      const bound = await listenOn(server, face.address);
      app.boundPorts.add(bound.port);
      // With implicit TLS a failed handshake is an error of the client.
      const level = face.options.secure ? 'debug' : 'error';
      server.on('error', (error) => app.log[level]({ err: error }, 'the SMTP listener failed'));
      return bound;
    },
    reload: () => server.use(face.certificate?.look() ?? null),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sessions.stop();
      const cancel = app.clock.after(graceMs, () => sessions.destroyAll());
      await closed;
      cancel();
    },
  };
}
