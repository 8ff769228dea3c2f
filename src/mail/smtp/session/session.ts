// An open SMTP session: sends messages one after the other over a connection, with an answer per
// recipient (RFC 5321 3.3, pipelined by RFC 2920). open.ts opens sessions; attempt-record.ts turns
// answers into outcomes.

import { type PeerCertificate, SmtpFault } from '../outcome.ts';
import type { Command, SmtpChannel } from './channel.ts';
import { toDataBlock } from './data.ts';
import type { Capabilities, SmtpReply } from './reply.ts';
import type { SmtpTimeouts, Verb } from './timeouts.ts';
import type { SmtpMail } from './transaction.ts';
import { MailTransaction, type RecipientAnswer } from './transaction.ts';
import type { Transcript } from './transcript.ts';

/** 503 answers a MAIL while the previous transaction is still open. */
const badSequence = 503;
const emptyMessage = [Buffer.from('.\r\n')];

function isAccepted(reply: SmtpReply): boolean {
  return reply.code >= 250 && reply.code <= 259;
}

function isRefusal(reply: SmtpReply): boolean {
  return reply.code >= 400;
}

export interface SessionTls {
  /** TLS version and cipher; null without TLS. */
  tls: string | null;
  /** Certificate chain of the server, leaf first; empty without TLS. */
  certificates: readonly PeerCertificate[];
}

/** Called when only the answer to a message is outstanding: the next message may then begin. */
type OnTail = () => void;

/*
 * The next envelope is sent directly after the dot, because this is faster (3 KB messages, one
 * loopback connection, one core): 33,600/s and 15 µs a message, against 18,900/s and 26 µs in
 * sequence; over TLS 26,000/s and 20 µs against 14,500/s and 33 µs. On the Internet it saves one of
 * two round trips a message: 23 messages/s instead of 11 if the server answers after 40 ms. BDAT
 * (RFC 3030) in a single write with the envelope was not faster: 39,000/s and 11 µs against
 * 38,000/s and 12 µs as bare prototypes. It would also give up the 354, which shows that replies
 * are in step.
 *
 * isOpen | needsReset | meaning
 * -------+------------+--------------------------------------------------------------------------
 * true   | false      | between messages: MAIL may follow
 * true   | true       | the last transaction is unfinished: RSET goes before the next MAIL
 * false  | -          | closed by either side or by a fault; the session cannot be used again
 */
export class SmtpSession {
  readonly capabilities: Capabilities;
  /** TLS version and cipher; null without TLS. */
  readonly tls: string | null;
  /** Certificate chain of the server, leaf first; empty without TLS. */
  readonly certificates: readonly PeerCertificate[];
  readonly #channel: SmtpChannel;
  readonly #timeouts: SmtpTimeouts;
  #needsReset: boolean = false;
  #deliveries = 0;
  /** The message that only waits for an answer; null once it is answered. */
  #ahead: Promise<void> | null = null;
  /** True if the server accepted the last message that was sent completely. */
  #tookLast: boolean = false;

  constructor(
    channel: SmtpChannel,
    capabilities: Capabilities,
    { tls, certificates }: SessionTls,
    timeouts: SmtpTimeouts,
  ) {
    this.#channel = channel;
    this.capabilities = capabilities;
    this.tls = tls;
    this.certificates = certificates;
    this.#timeouts = timeouts;
  }

  /** True if a further message can be delivered. False once the server hangs up. */
  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  /** Number of messages begun. */
  get deliveries(): number {
    return this.#deliveries;
  }

  /** Dialogue of the latest message. The dialogue of the first message includes the opening. */
  get transcript(): Transcript {
    return this.#channel.transcript;
  }

  /** Calls `listener` once when the connection has ended, for any reason. */
  onClosed(listener: () => void): void {
    this.#channel.onClosed = listener;
  }

  /**
   * Delivers a message and returns the answers in the order of `mail.recipients`. Never rejects.
   *
   * The next call must wait until this call resolves or calls `onTail`. With PIPELINING, a small
   * message calls `onTail`, except the first message of a session: the next envelope is then
   * written together with the end of this message.
   */
  async deliver(mail: SmtpMail, onTail?: OnTail): Promise<RecipientAnswer[]> {
    const channel = this.#channel;
    if (this.#deliveries > 0) {
      channel.transcript = channel.transcript.next();
      channel.transcript.note(`message ${this.#deliveries + 1} on an open connection`);
    }
    this.#deliveries += 1;
    const { envelopeMs, recipientMs } = this.#timeouts;
    channel.limitTotal(envelopeMs + mail.recipients.length * recipientMs);
    const transaction = new MailTransaction(mail, this.capabilities);
    if (!transaction.isWanted) return transaction.answers();
    const conducted = this.#conduct(transaction, onTail);
    this.#ahead = conducted;
    await conducted;
    if (this.#ahead === conducted) this.#ahead = null;
    return transaction.answers();
  }

  /** Sends QUIT and closes; waits at most 2 seconds for the farewell. Never rejects. */
  async quit(): Promise<void> {
    if (!this.isOpen) return;
    try {
      this.#channel.limitTotal(this.#timeouts.quitMs);
      await this.#channel.ask({ verb: 'QUIT', line: 'QUIT' });
    } catch (error) {
      if (!(error instanceof SmtpFault)) throw error;
    }
    this.abort('closed by us');
  }

  /** Closes the connection at once; a running delivery ends with a fault that states `why`. */
  abort(why: string): void {
    this.#channel.fail(SmtpFault.of('connection', this.#channel.verb, why));
  }

  async #conduct(transaction: MailTransaction, onTail: OnTail | undefined): Promise<void> {
    try {
      await this.#transact(transaction, onTail);
    } catch (error) {
      if (!(error instanceof SmtpFault)) throw error;
      const { kind: fault, reply, isLoss } = error;
      transaction.answerRest({ kind: 'fault', fault, reply, isLoss });
    }
  }

  async #transact(transaction: MailTransaction, onTail: OnTail | undefined): Promise<void> {
    const { pipelining } = this.capabilities;
    const ordinal = this.#deliveries;
    const data = pipelining
      ? await this.#sendEnvelopeAtOnce(transaction)
      : await this.#sendEnvelopeInSteps(transaction);
    if (!data) return;
    if (isRefusal(data)) return transaction.answerRest(this.#replied(data, 'DATA'));
    if (data.code !== 354) throw this.#outOfStep(data, 'DATA');
    if (!transaction.hasAccepted) return this.#endWithoutMessage();
    // Every reply to the dot ends the transaction (RFC 5321 4.1.1.4).
    this.#needsReset = false;
    this.#channel.limitTotal(this.#timeouts.deliveryMs);
    const block = toDataBlock(transaction.mail.data);
    // After the first message nothing is sent ahead, so that the replies reveal a server that
    // answers a dot twice.
    const tail = pipelining && ordinal > 1 ? onTail : undefined;
    const dot = await this.#channel.sendBlock(block, transaction.bytes, tail);
    if (dot.code !== 250 && !isRefusal(dot)) throw this.#outOfStep(dot, 'dot');
    this.#tookLast = dot.code === 250;
    // Some servers keep a refused transaction open.
    if (!this.#tookLast && ordinal === this.#deliveries) this.#needsReset = true;
    transaction.answerRest(this.#replied(dot, 'dot'));
  }

  /**
   * Sends MAIL, all RCPT and DATA in a single write. Returns the reply to DATA, after the previous
   * message is answered.
   */
  async #sendEnvelopeAtOnce(transaction: MailTransaction): Promise<SmtpReply | null> {
    const ahead = this.#ahead;
    const reset = this.#takeReset();
    const replies: SmtpReply[] = [];
    const commands: Command[] = [
      ...reset,
      ...transaction.envelope(),
      { verb: 'DATA', line: 'DATA' },
    ];
    try {
      await this.#channel.exchange(commands, replies);
    } catch (error) {
      // Refusals before the session broke stay valid, unless replies are out of step.
      if (error instanceof SmtpFault && error.kind !== 'protocol') {
        this.#readEnvelope(transaction, commands, replies);
      }
      throw error;
    }
    if (ahead !== null) {
      await ahead;
      this.#checkAhead(replies);
    }
    this.#readEnvelope(transaction, commands, replies);
    return replies.at(-1) ?? null;
  }

  /**
   * Checks the reply to a MAIL that was sent before the previous message was answered. A refusal
   * counts only if this message must be the cause; otherwise the message is retried.
   */
  #checkAhead([mail]: readonly SmtpReply[]): void {
    if (!mail || !isRefusal(mail)) return;
    if (!this.#tookLast || mail.code === badSequence) throw this.#outOfStep(mail, 'MAIL');
  }

  /**
   * Sends each command after the reply to the previous command (RFC 5321 4.1.4). Returns the reply
   * to DATA; null if the server refused the sender or all recipients, so that DATA was not sent.
   */
  async #sendEnvelopeInSteps(transaction: MailTransaction): Promise<SmtpReply | null> {
    for (const command of [...this.#takeReset(), ...transaction.envelope()]) {
      const reply = await this.#channel.ask(command);
      this.#readEnvelope(transaction, [command], [reply]);
      if (command.verb === 'MAIL' && isRefusal(reply)) return null;
    }
    if (!transaction.hasAccepted) return null;
    return this.#channel.ask({ verb: 'DATA', line: 'DATA' });
  }

  /**
   * Returns RSET if the last transaction needs it. The new transaction also needs RSET until it
   * ends well.
   */
  #takeReset(): Command[] {
    const isNeeded = this.#needsReset;
    this.#needsReset = true;
    return isNeeded ? [{ verb: 'RSET', line: 'RSET' }] : [];
  }

  #readEnvelope(
    transaction: MailTransaction,
    commands: readonly Command[],
    replies: readonly SmtpReply[],
  ): void {
    for (const [index, reply] of replies.entries()) {
      const verb = commands[index]?.verb ?? 'DATA';
      if (verb === 'DATA') return;
      if (isAccepted(reply)) {
        if (verb === 'RCPT') transaction.accept();
      } else if (!isRefusal(reply) || verb === 'RSET') {
        throw this.#outOfStep(reply, verb);
      } else if (verb === 'MAIL') {
        // A server that refuses the sender accepts no recipient, so these replies belong to
        // different commands.
        if (replies.slice(index + 1).some((later) => !isRefusal(later))) {
          throw this.#outOfStep(reply, 'MAIL');
        }
        transaction.answerRest(this.#replied(reply, 'MAIL'));
        return;
      } else {
        transaction.refuse(this.#replied(reply, 'RCPT'));
      }
    }
  }

  /**
   * Sends a lone dot after a 354 although every recipient was refused (RFC 2920 3.1). Aborts the
   * session if the server accepts it.
   */
  async #endWithoutMessage(): Promise<void> {
    this.#channel.limitTotal(this.#timeouts.deliveryMs);
    const dot = await this.#channel.sendBlock(emptyMessage, 0);
    if (!isRefusal(dot)) this.abort('the server took a message without recipients');
  }

  #replied(reply: SmtpReply, verb: Verb): RecipientAnswer {
    return { kind: 'replied', reply: this.#channel.toRemote(reply, verb) };
  }

  #outOfStep(reply: SmtpReply, verb: Verb): SmtpFault {
    return this.#channel.fail(new SmtpFault('protocol', this.#channel.toRemote(reply, verb)));
  }
}
