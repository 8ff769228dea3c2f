// smtp-server's connection with four changes: an immediate greeting for local clients, our own enhanced
// status codes, a limit of refusals per client, and one of commands that move no mail.
import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { replies } from './errors.ts';
import type { SmtpLimits } from './limits.ts';

const leadingEnhancedCode = /^[245]\.\d{1,3}\.\d{1,3} /;

/** Returns whether an address is a loopback address. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** Commands of a transaction. It may have as many as the recipients of its mail. */
const transactionCommand = /^(?:RCPT|DATA|BDAT)(?: |$)/i;

export type ConnectionLimits = Pick<SmtpLimits, 'refusals' | 'idleCommands'>;

export class Connection extends SMTPConnection {
  readonly #limits: ConnectionLimits;
  #refusals = 0;
  /** Commands since the last accepted MAIL or AUTH. */
  #idleCommands = 0;
  #isGreeted: boolean = false;

  constructor(server: SMTPServer, socket: Socket, limits: ConnectionLimits) {
    super(server, socket);
    this.#limits = limits;
  }

  /** Counts commands. A line of a login, and bytes before a TLS handshake, are none. */
  override _onCommand(command: Buffer, callback?: () => void): void {
    const isCommand = !this._upgrading && !this._nextHandler;
    if (isCommand && !transactionCommand.test(command.toString('latin1'))) this.#idleCommands += 1;
    if (this.#idleCommands > this.#limits.idleCommands) {
      const { code, enhancedCode, text } = replies.tooIdle;
      this.send(code, `${enhancedCode} ${text}`);
      return;
    }
    super._onCommand(command, callback);
  }

  /**
   * Greets local clients at once. The library greets after 100 ms and disconnects clients that send
   * before: this keeps crude spam programs away, but would only delay this machine's own mail.
   */
  override init(): void {
    super.init();
    if (isLoopback(this.remoteAddress)) setImmediate(() => this.connectionReady());
  }

  override connectionReady(next?: () => void): void {
    if (this.#isGreeted) return;
    this.#isGreeted = true;
    super.connectionReady(next);
  }

  /** Keeps the enhanced code of a text that begins with one; the library knows one per reply code. */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (context === 'MAIL_FROM_OK' || code === 235) this.#idleCommands = 0;
    if (code >= 400 && code !== 421) this.#refusals += 1;
    if (this.#refusals > this.#limits.refusals) {
      const { enhancedCode, text } = replies.tooManyRefusals;
      super.send(421, `${enhancedCode} ${text}`, false);
      return;
    }
    const hasOwnCode = typeof data === 'string' && leadingEnhancedCode.test(data);
    super.send(code, data, hasOwnCode ? false : context);
  }
}
