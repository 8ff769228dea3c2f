// An SMTP transaction: MAIL and RCPT with the parameters that the server's capabilities allow (RFC
// 5321, 1870, 6152, 6531, 3461, 8689), refusals before a byte is sent, and the answer of each
// recipient. Builds text; session.ts sends it.

import type { ErrorCode, FaultKind, RemoteReply } from '../outcome.ts';
import type { Command } from './channel.ts';
import type { Capabilities } from './reply.ts';

/** Success and failure reports requested from a relay (RFC 3461). */
export interface DsnRequest {
  /** Identifier returned in the report; any printable text. */
  envelopeId: string;
  returnContent: 'full' | 'headers';
  notify: readonly ('success' | 'failure' | 'delay')[];
}

/** A message with the envelope. */
export interface SmtpMail {
  /** Return path without angle brackets; empty for the null path. */
  from: string;
  recipients: readonly string[];
  /** Header and body, lines ending in CRLF; dots are stuffed on the way out. */
  data: readonly Buffer[];
  /** True if the header needs SMTPUTF8 (RFC 6531); the envelope is checked here. */
  smtpUtf8: boolean;
  /** True if the body holds octets above 127. */
  eightBit: boolean;
  /** True if `eightBit` is needed: the message cannot be encoded for a server without 8BITMIME. */
  needsEightBit?: boolean;
  /** Request for reports, sent if the server offers DSN. */
  dsn?: DsnRequest;
  /** Sends REQUIRETLS (RFC 8689) if the server offers it: further hops must be encrypted too. */
  requireTls?: boolean;
}

/** A refusal of ours, before the server saw the message. */
interface LocalRefusal {
  errorCode: ErrorCode;
  reply: RemoteReply;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach the wire
const unsafeInPath = /[\x00-\x20\x7f<>]/;

/** Octets of a message before dot-stuffing, as SIZE counts them (RFC 1870 section 5). */
export function countBytes(data: readonly Buffer[]): number {
  return data.reduce((sum, chunk) => sum + chunk.length, 0);
}

const notAscii = /[^\x20-\x7e]/;

function refuse(errorCode: ErrorCode, enhancedCode: string, text: string, verb: string) {
  return { errorCode, reply: { code: null, enhancedCode, text, verb } };
}

/** Returns the reason why this server cannot get the message at all, or null. */
function refuseMail(mail: SmtpMail, bytes: number, offered: Capabilities) {
  if (unsafeInPath.test(mail.from)) {
    return refuse('protocol', '5.1.7', 'the return path cannot be written on the wire', 'MAIL');
  }
  if ((mail.smtpUtf8 || notAscii.test(mail.from)) && !offered.smtpUtf8) {
    const text = 'the message needs SMTPUTF8, which the server does not offer';
    return refuse('protocol', '5.6.7', text, 'EHLO');
  }
  if (mail.needsEightBit && !offered.eightBitMime) {
    const text =
      'the message has 8-bit parts that cannot be encoded, and the server offers no 8BITMIME';
    return refuse('protocol', '5.6.3', text, 'EHLO');
  }
  if (offered.size && bytes > offered.size) {
    const text = `the message has ${bytes} bytes, the server takes ${offered.size}`;
    return refuse('message-too-large', '5.3.4', text, 'EHLO');
  }
  return null;
}

/** Returns the reason why this server cannot be given the recipient, or null. */
function refuseRecipient(recipient: string, offered: Capabilities): LocalRefusal | null {
  if (recipient === '' || unsafeInPath.test(recipient)) {
    return refuse('protocol', '5.1.3', 'the address cannot be written on the wire', 'RCPT');
  }
  if (offered.smtpUtf8 || !notAscii.test(recipient)) return null;
  const text = 'the address needs SMTPUTF8, which the server does not offer';
  return refuse('protocol', '5.6.7', text, 'RCPT');
}

/** Encodes xtext (RFC 3461 4): all but printable ASCII, and `+` and `=`, become `+HH`. */
function toXtext(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^!-~]|[+=]/g, (character) => {
      return `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    });
}

/** Builds the MAIL command; `isUtf8`: header or envelope need SMTPUTF8. */
function mailLine(mail: SmtpMail, bytes: number, offered: Capabilities, isUtf8: boolean): string {
  let line = `MAIL FROM:<${mail.from}>`;
  if (offered.size !== null) line += ` SIZE=${bytes}`;
  // attempt.ts encodes the message for a server without 8BITMIME (RFC 6152 3).
  if (mail.eightBit && offered.eightBitMime) line += ' BODY=8BITMIME';
  if (isUtf8) line += ' SMTPUTF8';
  if (mail.requireTls && offered.requireTls) line += ' REQUIRETLS';
  if (mail.dsn && offered.dsn) {
    const content = mail.dsn.returnContent === 'full' ? 'FULL' : 'HDRS';
    line += ` RET=${content} ENVID=${toXtext(mail.dsn.envelopeId)}`;
  }
  return line;
}

function rcptLine(recipient: string, mail: SmtpMail, offered: Capabilities): string {
  let line = `RCPT TO:<${recipient}>`;
  if (mail.dsn && offered.dsn) {
    const notify = mail.dsn.notify.length > 0 ? mail.dsn.notify.join(',').toUpperCase() : 'NEVER';
    line += ` NOTIFY=${notify}`;
    if (/^[!-~]+$/.test(recipient)) line += ` ORCPT=rfc822;${toXtext(recipient)}`;
  }
  return line;
}

/**
 * The answer for a recipient. `replied`: the server's reply to `reply.verb`; only a 250 at `dot`
 * means that it accepted the message. `refused-here`: not sent to the server, with our reason.
 * `fault`: the session broke before this recipient had an answer; `isLoss` as in SmtpFault.
 */
export type RecipientAnswer =
  | { kind: 'replied'; reply: RemoteReply }
  | { kind: 'refused-here'; errorCode: ErrorCode; reply: RemoteReply }
  | { kind: 'fault'; fault: FaultKind; reply: RemoteReply; isLoss: boolean };

/** A message in progress: tracks which recipients still await an answer. */
export class MailTransaction {
  readonly mail: SmtpMail;
  readonly bytes: number;
  readonly #offered: Capabilities;
  readonly #answers: (RecipientAnswer | null)[];
  /** Indices of the recipients that are sent to the server, in order. */
  readonly #named: number[] = [];
  #rcptReplies = 0;
  #accepted = 0;

  constructor(mail: SmtpMail, offered: Capabilities) {
    this.mail = mail;
    this.bytes = countBytes(mail.data);
    this.#offered = offered;
    const refusal = refuseMail(mail, this.bytes, offered);
    this.#answers = mail.recipients.map((recipient, index) => {
      const refused = refusal ?? refuseRecipient(recipient, offered);
      if (refused) return { kind: 'refused-here', ...refused };
      this.#named.push(index);
      return null;
    });
  }

  /** True if at least one recipient remains for the server. */
  get isWanted(): boolean {
    return this.#named.length > 0;
  }

  get hasAccepted(): boolean {
    return this.#accepted > 0;
  }

  /** Builds MAIL and one RCPT per recipient. */
  envelope(): Command[] {
    const { mail, bytes } = this;
    const line = mailLine(mail, bytes, this.#offered, this.#isUtf8());
    const commands: Command[] = [{ verb: 'MAIL', line }];
    for (const index of this.#named) {
      const recipient = mail.recipients[index] ?? '';
      commands.push({ verb: 'RCPT', line: rcptLine(recipient, mail, this.#offered) });
    }
    return commands;
  }

  /**
   * Returns true if the envelope or header needs SMTPUTF8. The envelope is checked too: the header
   * does not contain the addresses of blind copies.
   */
  #isUtf8(): boolean {
    const { smtpUtf8, from, recipients } = this.mail;
    const named = this.#named.map((index) => recipients[index] ?? '');
    return smtpUtf8 || [from, ...named].some((address) => notAscii.test(address));
  }

  /** Records that the next RCPT was accepted. */
  accept(): void {
    this.#rcptReplies += 1;
    this.#accepted += 1;
  }

  /** Records that the next RCPT was refused. */
  refuse(answer: RecipientAnswer): void {
    const index = this.#named[this.#rcptReplies];
    this.#rcptReplies += 1;
    if (index !== undefined) this.#answers[index] = answer;
  }

  /** Sets the answer of all recipients without an answer. */
  answerRest(answer: RecipientAnswer): void {
    for (const index of this.#named) this.#answers[index] ??= answer;
  }

  /**
   * Returns all answers.
   * @throws Error if a recipient has no answer, which is a mistake in our code
   */
  answers(): RecipientAnswer[] {
    return this.#answers.map((answer) => {
      if (!answer) throw new Error('a recipient was left without an answer');
      return answer;
    });
  }
}
