// The open SMTP sessions: limits, time-outs, and the stop. The library handles the dialogue,
// transaction.ts the messages.
//
//   phase     | waits for             | idle limit | at the stop
//   commands  | the next command      | applies    | closed with 421 at once
//   receiving | the rest of the DATA  | applies    | may finish within the grace period
//   working   | our reply             | paused     | may finish within the grace period
import type { Socket } from 'node:net';
import type { SMTPServer, SMTPServerSession } from 'smtp-server';
import type { InboundRefusal } from '../../src/inbox/receiving/refusal.ts';
import type { Addressee } from '../../src/inbox/receiving/resolve.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { Connection, type ConnectionLimits } from './connection.ts';
import { ConnectionCounts } from './connection-counts.ts';
import { replies } from './errors.ts';
import type { SmtpLimits } from './limits.ts';

/** A mail transaction from MAIL to the end of DATA. Survives RSET; the next MAIL replaces it. */
export interface Transaction {
  mailFrom: string;
  /** Value of SIZE=, 0 without it (RFC 1870). */
  declaredBytes: number;
  /** Addressees by address, so that a repeated address counts once. */
  addressees: Map<string, Addressee>;
}

export interface Session {
  readonly connection: Connection;
  /** The TCP socket, below TLS. */
  readonly socket: Socket;
  readonly address: string;
  phase: 'commands' | 'receiving' | 'working';
  transaction: Transaction;
  heardBytes: number;
  heardAt: number;
  /** Time of the last accepted message, or else the start of the session. */
  progressAt: number;
}

/** Creates the connection of a socket. */
type Connect = (server: SMTPServer, socket: Socket, limits: ConnectionLimits) => Connection;

const connectPlainly: Connect = (server, socket, limits) => new Connection(server, socket, limits);

/** The bounds of a listener that sessions check. */
export type SessionLimits = ConnectionLimits &
  Pick<SmtpLimits, 'connectionsPerAddress' | 'idleMs' | 'yieldMs' | 'messageMs' | 'checkEveryMs'>;

export class Sessions {
  readonly #clock: Clock;
  readonly #limits: SessionLimits;
  readonly #connect: Connect;
  readonly #counts: ConnectionCounts;
  readonly #open = new Map<SMTPServerSession, Session>();
  #stopChecking: (() => void) | null = null;
  #isStopping: boolean = false;

  constructor(
    clock: Clock,
    limits: SessionLimits,
    maxConnections: number,
    connect: Connect = connectPlainly,
  ) {
    this.#connect = connect;
    this.#clock = clock;
    this.#limits = limits;
    this.#counts = new ConnectionCounts(maxConnections, limits.connectionsPerAddress);
  }

  /** Admits a client and returns the connection. Beyond a limit, answers 421 and returns null. */
  begin(server: SMTPServer, socket: Socket): Connection | null {
    const { checkEveryMs } = this.#limits;
    const connection = this.#connect(server, socket, this.#limits);
    const address = connection.remoteAddress;
    if (!this.#counts.admit(address) && !this.#admitInPlaceOfSilent(address)) {
      turnAway(socket);
      return null;
    }
    const now = this.#clock.elapsed();
    this.#open.set(connection.session, {
      connection,
      socket,
      address,
      phase: 'commands',
      transaction: { mailFrom: '', declaredBytes: 0, addressees: new Map() },
      heardBytes: 0,
      heardAt: now,
      progressAt: now,
    });
    this.#stopChecking ??= this.#clock.after(checkEveryMs, () => this.#check());
    return connection;
  }

  /**
   * If all connections are in use, ends the connection that was silent longest, and admits the new
   * client. Only connections that were silent for `yieldMs`, or whose site has more connections,
   * can be ended. Returns whether the client was admitted.
   */
  #admitInPlaceOfSilent(address: string): boolean {
    if (!this.#counts.isFull) return false;
    this.#listen();
    const now = this.#clock.elapsed();
    let silent: [SMTPServerSession, Session] | null = null;
    for (const entry of this.#open) {
      const [, session] = entry;
      const isSilent = now - session.heardAt >= this.#limits.yieldMs;
      if (session.phase === 'working' || !this.#counts.mayTakeOver(address, session.address))
        continue;
      const yields = isSilent || this.#counts.hasMore(session.address, address);
      if (yields && session.heardAt < (silent?.[1].heardAt ?? Infinity)) silent = entry;
    }
    if (!silent) return false;
    const [key, session] = silent;
    hangUp(session, replies.yields);
    this.end(key);
    return this.#counts.admit(address);
  }

  /** Returns undefined once the connection is gone, even if work for it is still under way. */
  find(session: SMTPServerSession): Session | undefined {
    return this.#open.get(session);
  }

  end(key: SMTPServerSession): void {
    const session = this.#open.get(key);
    if (!session) return;
    this.#open.delete(key);
    this.#counts.release(session.address);
    if (this.#open.size > 0) return;
    this.#stopChecking?.();
    this.#stopChecking = null;
  }

  /** Sends `reply`. After it the client may send the next command at once. */
  answer(session: Session, reply: () => void): void {
    session.phase = 'commands';
    session.heardAt = this.#clock.elapsed();
    reply();
    if (this.#isStopping && session.phase === 'commands') hangUp(session, replies.closing);
  }

  /** Closes sessions that wait for a command. Busy sessions are closed after the next reply. */
  stop(): void {
    this.#isStopping = true;
    for (const session of this.#open.values()) {
      if (session.phase === 'commands') hangUp(session, replies.closing);
    }
  }

  /** Cuts the remaining connections. */
  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  /** Records which clients sent bytes since the last check. */
  #listen(): void {
    const now = this.#clock.elapsed();
    for (const session of this.#open.values()) {
      const { bytesRead } = session.socket;
      if (bytesRead !== session.heardBytes || session.phase === 'working') session.heardAt = now;
      session.heardBytes = bytesRead;
    }
  }

  #check(): void {
    this.#listen();
    const now = this.#clock.elapsed();
    for (const session of this.#open.values()) {
      if (session.phase === 'working') continue;
      if (now - session.heardAt >= this.#limits.idleMs) hangUp(session, replies.idle);
      else if (now - session.progressAt >= this.#limits.messageMs) hangUp(session, replies.tooSlow);
    }
    this.#stopChecking =
      this.#open.size === 0
        ? null
        : this.#clock.after(this.#limits.checkEveryMs, () => this.#check());
  }
}

/** Sends the reason and closes. The library cuts the socket after 5 s if the client does not. */
export function hangUp(
  { connection }: Session,
  { code, enhancedCode, text }: InboundRefusal,
): void {
  connection.send(code, `${enhancedCode} ${text}`);
  connection.close();
}

function turnAway(socket: Socket): void {
  const { code, enhancedCode, text } = replies.tooManyConnections;
  socket.on('error', () => {});
  socket.end(`${code} ${enhancedCode} ${text}\r\n`, () => socket.destroy());
}
