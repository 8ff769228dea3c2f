// An SMTP transaction: MAIL and RCPT with the parameters that the server's capabilities allow (RFC
// 5321, 1870, 6152, 6531, 3461, 8689), refusals before anything is sent, and the answer of each
// recipient. Builds the commands; session.ts sends them.

import type { ErrorCode, FaultKind, RemoteReply } from '../outcome.ts';
import type { Command } from './channel.ts';
import type { Capabilities } from './reply.ts';

/** Reports of success and failure requested from a relay (RFC 3461). */
export interface DsnRequest {
  /** Identifier that the report repeats; any printable text. */
  envelopeId: string;
  returnContent: 'full' | 'headers';
  notify: readonly ('success' | 'failure' | 'delay')[];
}

/** A message with envelope: return path, recipients, and parameters of MAIL and RCPT. */
export interface SmtpMail {
  /** Return path without angle brackets; empty for the null path. */
  from: string;
  recipients: readonly string[];
  /** Header and body with CRLF line ends. Dots are stuffed when the message is sent. */
  data: readonly Buffer[];
  /** True if the header needs SMTPUTF8 (RFC 6531), whether or not the envelope does. */
  smtpUtf8: boolean;
  /** True if the body has octets above 127. */
  eightBit: boolean;
  /** True if the message cannot be encoded for a server without 8BITMIME. */
  needsEightBit?: boolean;
  /** Request for reports, sent if the server offers DSN. */
  dsn?: DsnRequest;
  /** Whether to send REQUIRETLS (RFC 8689) if offered, so that later servers use TLS too. */
  requireTls?: boolean;
}

/** A refusal on our side, before the server received the message. */
interface LocalRefusal {
  errorCode: ErrorCode;
  reply: RemoteReply;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach the wire
const unsafeInPath = /[\x00-\x20\x7f<>]/;

/** Counts the octets of a message before dot-stuffing, as SIZE requires (RFC 1870 section 5). */
export function countBytes(data: readonly Buffer[]): number {
  return data.reduce((sum, chunk) => sum + chunk.length, 0);
}

const notAscii = /[^\x20-\x7e]/;

function refuse(errorCode: ErrorCode, enhancedCode: string, text: string, verb: string) {
  return { errorCode, reply: { code: null, enhancedCode, text, verb } };
}

/** Returns the reason why this server cannot receive the message at all, or null. */
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

/** Returns the reason why the recipient cannot be sent to this server, or null. */
function refuseRecipient(recipient: string, offered: Capabilities): LocalRefusal | null {
  if (recipient === '' || unsafeInPath.test(recipient)) {
    return refuse('protocol', '5.1.3', 'the address cannot be written on the wire', 'RCPT');
  }
  if (offered.smtpUtf8 || !notAscii.test(recipient)) return null;
  const text = 'the address needs SMTPUTF8, which the server does not offer';
  return refuse('protocol', '5.6.7', text, 'RCPT');
}

/** Encodes xtext (RFC 3461 4): `+`, `=` and everything beyond printable ASCII become `+HH`. */
function toXtext(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^!-~]|[+=]/g, (character) => {
      return `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    });
}

/** Builds the MAIL command. `isUtf8`: the header or the envelope needs SMTPUTF8. */
function mailLine(mail: SmtpMail, bytes: number, offered: Capabilities, isUtf8: boolean): string {
  let line = `MAIL FROM:<${mail.from}>`;
  if (offered.size !== null) line += ` SIZE=${bytes}`;
  // For a server without 8BITMIME, attempt.ts has encoded the message already (RFC 6152 3).
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
 * Answer for a recipient. `replied`: the server's reply to `reply.verb`; only a 250 to `dot` means
 * that the message was accepted. `refused-here`: refused on our side before sending. `fault`: the
 * session broke before an answer; `isLoss` as in SmtpFault.
 */
export type RecipientAnswer =
  | { kind: 'replied'; reply: RemoteReply }
  | { kind: 'refused-here'; errorCode: ErrorCode; reply: RemoteReply }
  | { kind: 'fault'; fault: FaultKind; reply: RemoteReply; isLoss: boolean };

/** A message being sent: tracks the recipients without an answer. */
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

  /** True if at least one recipient is sent to the server. */
  get isWanted(): boolean {
    return this.#named.length > 0;
  }

  get hasAccepted(): boolean {
    return this.#accepted > 0;
  }

  /** Builds MAIL, and RCPT for each recipient that was not refused on our side. */
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
   * Returns true if envelope or header need SMTPUTF8. The header lacks the addresses of blind
   * copies, so the envelope is checked too.
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

  /** Records the server's refusal of the next RCPT as the answer for this recipient. */
  refuse(answer: RecipientAnswer): void {
    const index = this.#named[this.#rcptReplies];
    this.#rcptReplies += 1;
    if (index !== undefined) this.#answers[index] = answer;
  }

  /** Sets the answer of all recipients that have none. */
  answerRest(answer: RecipientAnswer): void {
    for (const index of this.#named) this.#answers[index] ??= answer;
  }

  /**
   * Returns all answers.
   * @throws Error if a recipient has no answer, which is a bug
   */
  answers(): RecipientAnswer[] {
    return this.#answers.map((answer) => {
      if (!answer) throw new Error('a recipient was left without an answer');
      return answer;
    });
  }
}
