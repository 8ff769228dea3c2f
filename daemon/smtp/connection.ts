// smtp-server's connection with three changes: an immediate greeting for local clients, our own enhanced
// status codes, and a limit of refusals per client.
import type { Socket } from 'node:net';
import type { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { replies } from './errors.ts';

const leadingEnhancedCode = /^[245]\.\d{1,3}\.\d{1,3} /;

/** Returns whether an address is a loopback address. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

export class Connection extends SMTPConnection {
  readonly #mostRefusals: number;
  #refusals = 0;
  #isGreeted: boolean = false;

  constructor(server: SMTPServer, socket: Socket, mostRefusals: number) {
    super(server, socket);
    this.#mostRefusals = mostRefusals;
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
    if (code >= 400 && code !== 421) this.#refusals += 1;
    if (this.#refusals > this.#mostRefusals) {
      const { enhancedCode, text } = replies.tooManyRefusals;
      super.send(421, `${enhancedCode} ${text}`, false);
      return;
    }
    const hasOwnCode = typeof data === 'string' && leadingEnhancedCode.test(data);
    super.send(code, data, hasOwnCode ? false : context);
  }
}
