// The record of a delivery attempt: which recipients have an outcome, which are pending, and the
// replies of every host. Turns answers, faults and verdicts into Outcomes. attempt.ts connects and
// chooses hosts.
import type { Clock } from '../../platform/runtime/clock.ts';
import { type Verdict, worstVerdict } from './destination.ts';
import type {
  AttemptTrace,
  ErrorCode,
  Handover,
  Outcome,
  RemoteReply,
  SmtpFault,
} from './outcome.ts';
import type { Peer } from './pool-request.ts';
import { classifyReply, tooManyRecipients } from './reply-rules/classify-reply.ts';
import type { RecipientAnswer } from './session/transaction.ts';
import { joinTranscripts, serverLines } from './session/transcript.ts';

/** An Outcome that still lacks the trace. */
type Conclusion = { kind: 'sent'; reply: RemoteReply } | Verdict;
type Fault = Pick<SmtpFault, 'kind' | 'reply'>;

/** Reply codes about our credentials (RFC 4954 6). */
const authCodes: readonly (number | null)[] = [530, 534, 535, 538];

/**
 * Returns true if the server may have accepted the message. After the final dot, only a refusal
 * proves that it did not.
 */
function mayHaveBeenTaken({ kind, reply }: Fault): boolean {
  return reply.verb === 'dot' && kind !== 'refused';
}

function concludeFault({ kind, reply }: Fault): Conclusion {
  const codes: Record<Exclude<SmtpFault['kind'], 'refused'>, ErrorCode> = {
    connection: 'connection',
    protocol: 'protocol',
    tls: 'policy',
    auth: 'auth-failed',
  };
  if (kind !== 'refused') return { kind: 'deferred', errorCode: codes[kind], reply };
  const errorCode = classifyReply(reply).errorCode;
  return { kind: 'deferred', errorCode: errorCode === 'unknown' ? 'connection' : errorCode, reply };
}

function concludeReply(reply: RemoteReply, isRelay: boolean, isOneOfSeveral: boolean): Conclusion {
  const code = reply.code ?? 0;
  if (reply.verb === 'dot' && code === 250) return { kind: 'sent', reply };
  if (isRelay && authCodes.includes(code)) {
    return { kind: 'deferred', errorCode: 'auth-failed', reply };
  }
  const errorCode = classifyReply(reply).errorCode;
  // Too many recipients at once says nothing about this recipient: the next attempt sends fewer
  // (RFC 5321 4.5.3.1.10).
  const isCrowd = isOneOfSeveral && reply.verb === 'RCPT' && tooManyRecipients.test(reply.text);
  return { kind: code >= 500 && !isCrowd ? 'bounced' : 'deferred', errorCode, reply };
}

export class AttemptRecord {
  readonly #clock: Clock;
  readonly #isRelay: boolean;
  readonly #outcomes: (Outcome | null)[];
  /** Indices of recipients without an outcome. */
  #pending: number[];
  /** Start on both clocks: wall time to show, steady time to measure. */
  #begun: { at: number; elapsed: number } | null = null;
  #peer: { host: string | null; address: string | null } = { host: null, address: null };
  #fault: Fault | null = null;
  readonly #verdicts: Verdict[] = [];
  readonly #transcripts: string[] = [];

  constructor(recipients: number, isRelay: boolean, clock: Clock) {
    this.#clock = clock;
    this.#isRelay = isRelay;
    this.#outcomes = new Array<Outcome | null>(recipients).fill(null);
    this.#pending = this.#outcomes.map((_, index) => index);
  }

  /** Indices of recipients for which a further host may be tried. */
  get pending(): readonly number[] {
    return this.#pending;
  }

  /** Starts the clock at the first host, so that the wait for a free connection is not counted. */
  begin(): void {
    this.#begun ??= { at: this.#clock.now(), elapsed: this.#clock.elapsed() };
  }

  /** Milliseconds since the first host was tried. */
  get tookMs(): number {
    return this.#begun ? this.#clock.elapsed() - this.#begun.elapsed : 0;
  }

  /** Adds each note to the transcript of the attempt, on a line that begins with `* `. */
  addNotes(notes: readonly string[]): void {
    for (const note of notes) this.#transcripts.push(`* ${note}\n`);
  }

  /** Records a verdict that excludes a host, such as a DNS answer or missing TLS. */
  addVerdict(host: string | null, verdict: Verdict): void {
    this.#peer = { host, address: null };
    this.#verdicts.push(verdict);
    this.#transcripts.push(`* ${verdict.reply.text}\n`);
  }

  /** Records that no session could be opened with this address. */
  addFault(peer: Peer | null, fault: Fault, transcript: string): void {
    if (peer) this.#peer = peer;
    this.#transcripts.push(transcript);
    this.#keepFault(fault);
  }

  /**
   * Records the answers to the pending recipients, in their order. Recipients for which a further
   * host may be tried stay pending. Calls `handOver` if the server accepted the message.
   */
  addAnswers(
    answers: readonly RecipientAnswer[],
    peer: Peer,
    tls: string | null,
    transcript: string,
    handOver: () => Handover,
  ): void {
    this.#peer = peer;
    this.#transcripts.push(transcript);
    const trace = this.#trace(tls);
    let taken: AttemptTrace | undefined;
    const left: number[] = [];
    for (const [position, index] of this.#pending.entries()) {
      const answer = answers[position];
      const conclusion = answer ? this.#conclude(answer, answers.length > 1) : null;
      if (!conclusion) left.push(index);
      else if (conclusion.kind === 'sent') {
        taken ??= { ...trace, transcript: serverLines(trace.transcript), handover: handOver() };
        this.#outcomes[index] = { ...conclusion, trace: taken };
      } else this.#outcomes[index] = { ...conclusion, trace };
    }
    this.#pending = left;
  }

  /**
   * Returns the outcomes in the order of the recipients. Pending recipients are deferred, unless a
   * verdict ends their delivery.
   */
  finish(): Outcome[] {
    const trace = this.#trace(null);
    const verdict = worstVerdict(this.#verdicts);
    const rest: Conclusion = this.#fault
      ? concludeFault(this.#fault)
      : (verdict ?? concludeNothing());
    return this.#outcomes.map((outcome) => outcome ?? { ...rest, trace });
  }

  /** Returns the conclusion of an answer; null if a further host may still accept the message. */
  #conclude(answer: RecipientAnswer, isOneOfSeveral: boolean): Conclusion | null {
    if (answer.kind === 'replied')
      return concludeReply(answer.reply, this.#isRelay, isOneOfSeveral);
    const { reply } = answer;
    if (answer.kind === 'refused-here') {
      return { kind: 'failed', errorCode: answer.errorCode, reply };
    }
    const fault = { kind: answer.fault, reply };
    if (mayHaveBeenTaken(fault)) return concludeFault(fault);
    this.#keepFault(fault);
    return null;
  }

  /** Keeps a refusal rather than a failed connection, because a server's text explains more. */
  #keepFault(fault: Fault): void {
    if (this.#fault?.kind === 'refused' && fault.kind !== 'refused') return;
    this.#fault = fault;
  }

  #trace(tls: string | null): AttemptTrace {
    return {
      ...this.#peer,
      tls,
      startedAt: this.#begun?.at ?? this.#clock.now(),
      durationMs: Math.round(this.tookMs),
      transcript: joinTranscripts(this.#transcripts),
    };
  }
}

/** Returns the conclusion for an attempt without time to try a host. */
function concludeNothing(): Conclusion {
  const text = 'no host was tried in time';
  return {
    kind: 'deferred',
    errorCode: 'connection',
    reply: { code: null, enhancedCode: '4.4.7', text, verb: 'connect' },
  };
}
