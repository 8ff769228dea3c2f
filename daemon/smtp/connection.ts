// smtp-server's connection with six changes: an immediate greeting for local clients, our own
// enhanced status codes, a limit of refusals per client, a limit of commands outside of
// transactions, a lenient reading of return paths, and a refusal of parameters that EHLO does not
// offer.
import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { type MailPath, readMailPath, readReturnPath } from './command-path.ts';
import { replies } from './errors.ts';
import type { SmtpLimits } from './limits.ts';

const leadingEnhancedCode = /^[245]\.\d{1,3}\.\d{1,3} /;

export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** Commands of a transaction: not counted as idle, as a mail may have many recipients. */
const transactionCommand = /^(?:RCPT|DATA|BDAT)(?: |$)/i;

/** Returns the refusal of a parameter that belongs to no offered extension (RFC 5321 4.1.1.11). */
const unknownParameter = (name: string) =>
  `5.5.4 ${name.slice(0, 40)}: unknown parameter, or of an extension that is not offered here`;

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

  /**
   * Counts idle commands, and answers 421 above the limit. RCPT, DATA, BDAT, lines of a login and
   * bytes before a TLS handshake do not count.
   */
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
   * Greets local clients at once. The library waits 100 ms and disconnects clients that send before
   * the greeting. This stops crude spam programs, but would only delay mail of this machine.
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

  /** Returns the address of a return path; null for a malformed path. */
  protected readReturnPath(path: MailPath): string | null {
    return readReturnPath(path);
  }

  override _parseAddressCommand(
    name: string,
    command: Buffer | string,
  ): ReturnType<SMTPConnection['_parseAddressCommand']> {
    if (name !== 'mail from') return super._parseAddressCommand(name, command);
    const path = readMailPath(command.toString());
    const address = path && this.readReturnPath(path);
    if (path === null || address === null) return false;
    const parsed = super._parseAddressCommand(name, `MAIL FROM:<>${path.parameters}`);
    return parsed && { ...parsed, address };
  }

  override handler_MAIL(command: Buffer, done: () => void): void {
    const offered = ['BODY', 'SIZE', 'SMTPUTF8', ...(this._isSupported('AUTH') ? ['AUTH'] : [])];
    if (!this.#refusesParameters('mail from', command, offered)) {
      super.handler_MAIL(command, done);
    } else done();
  }

  override handler_RCPT(command: Buffer, done: () => void): void {
    if (!this.#refusesParameters('rcpt to', command, [])) super.handler_RCPT(command, done);
    else done();
  }

  /**
   * Answers 555 and returns true for a parameter that is not in `offered`, and for BODY=BINARYMIME.
   */
  #refusesParameters(name: string, command: Buffer, offered: readonly string[]): boolean {
    const parsed = this._parseAddressCommand(name, command);
    const args = parsed && parsed.args !== false ? parsed.args : {};
    const isBinary = /^binarymime$/i.test(String(args.BODY ?? ''));
    const unknown = Object.keys(args).find((key) => !offered.includes(key));
    if (unknown === undefined && !isBinary) return false;
    this.send(555, unknownParameter(unknown ?? 'BODY=BINARYMIME'));
    return true;
  }

  /**
   * Sends a reply, or 421 after too many refusals. Keeps an enhanced code at the beginning of
   * `data`, where the library would set a fixed enhanced code for each reply code.
   */
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
