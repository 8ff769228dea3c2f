// The book of one SMTP transaction: which recipients are named to the server, who has an answer, who
// still waits for one. Says nothing on the wire; that is session.ts.

import type { Capabilities } from './capabilities.ts';
import type { Command } from './channel.ts';
import {
  countBytes,
  mailLine,
  rcptLine,
  refuseMail,
  refuseRecipient,
  type SmtpMail,
} from './envelope.ts';
import type { FaultKind } from './fault.ts';
import type { ErrorCode, RemoteReply } from './outcome.ts';

/**
 * What one recipient was told. `replied`: the server's own words, at `reply.verb`; only a 250 at `dot`
 * means that it took the message. `refused-here`: not even tried, with our reason. `fault`: the
 * session broke before this recipient had an answer; `isLoss` as in SmtpFault.
 */
export type RecipientAnswer =
  | { kind: 'replied'; reply: RemoteReply }
  | { kind: 'refused-here'; errorCode: ErrorCode; reply: RemoteReply }
  | { kind: 'fault'; fault: FaultKind; reply: RemoteReply; isLoss: boolean };

/** One message on its way: who still waits for which answer. */
export class MailTransaction {
  readonly mail: SmtpMail;
  readonly bytes: number;
  readonly #offered: Capabilities;
  readonly #answers: (RecipientAnswer | null)[];
  /** Indices into the recipients, of those that are named to the server, in order. */
  readonly #named: number[] = [];
  #rcptReplies = 0;
  #accepted = 0;

  constructor(mail: SmtpMail, offered: Capabilities) {
    this.mail = mail;
    this.bytes = countBytes(mail.data);
    this.#offered = offered;
    const refusal = refuseMail(mail, this.bytes, offered);
    this.#answers = mail.recipients.map((recipient, index) => {
      const refused = refusal ?? refuseRecipient(recipient);
      if (refused) return { kind: 'refused-here', ...refused };
      this.#named.push(index);
      return null;
    });
  }

  /** Whether anyone is left to be named to the server. */
  get isWanted(): boolean {
    return this.#named.length > 0;
  }

  get hasAccepted(): boolean {
    return this.#accepted > 0;
  }

  /** MAIL and the RCPTs. */
  envelope(): Command[] {
    const commands: Command[] = [
      { verb: 'MAIL', line: mailLine(this.mail, this.bytes, this.#offered) },
    ];
    for (const index of this.#named) {
      const recipient = this.mail.recipients[index] ?? '';
      commands.push({ verb: 'RCPT', line: rcptLine(recipient, this.mail, this.#offered) });
    }
    return commands;
  }

  /** The next RCPT was taken. */
  accept(): void {
    this.#rcptReplies += 1;
    this.#accepted += 1;
  }

  /** The next RCPT was refused. */
  refuse(answer: RecipientAnswer): void {
    const index = this.#named[this.#rcptReplies];
    this.#rcptReplies += 1;
    if (index !== undefined) this.#answers[index] = answer;
  }

  /** The answer of everyone who has none yet. */
  answerRest(answer: RecipientAnswer): void {
    for (const index of this.#named) this.#answers[index] ??= answer;
  }

  /** @throws Error when someone was left without an answer, which no path may do */
  answers(): RecipientAnswer[] {
    return this.#answers.map((answer) => {
      if (!answer) throw new Error('a recipient was left without an answer');
      return answer;
    });
  }
}
