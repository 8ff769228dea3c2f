// What became of one recipient in one delivery attempt, and why a session could not go on. A remote
// refusal is a value, never an exception; src/queue/settle.ts turns it into statuses, events and retries.
// Faults are thrown inside src/smtp/ only: openSession and deliver turn them into values.

import type { CapturedBy } from './route.ts';

/** `errorCode` of a delivery; null where an attempt succeeded. */
export type ErrorCode =
  | 'invalid-recipient'
  | 'invalid-domain'
  | 'mailbox-full'
  | 'blocked'
  | 'spam'
  | 'policy'
  | 'message-too-large'
  | 'auth-failed'
  | 'protocol'
  | 'suppressed'
  | 'connection'
  | 'expired'
  | 'cancelled'
  | 'unknown';

/** The words of the remote side, kept for `errorDetails`. */
export interface RemoteReply {
  /** SMTP reply code (RFC 5321 4.2), null where no reply came (connection fault). */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463), when the reply carried one. */
  enhancedCode: string | null;
  /** Reply text without codes, lines joined by a space, at most 1,000 characters, printable. */
  text: string;
  /** The verb that was answered: `connect`, `EHLO`, `STARTTLS`, `AUTH`, `MAIL`, `RCPT`, `DATA`, `dot`, `dns`. */
  verb: string;
}

/** Where and how an attempt ran; becomes one entry of the attempt history. */
export interface AttemptTrace {
  /** MX or relay name. */
  host: string | null;
  /** The address connected to. */
  address: string | null;
  /** TLS version and cipher, e.g. `TLSv1.3 TLS_AES_256_GCM_SHA384`; null for plain text. */
  tls: string | null;
  startedAt: number;
  durationMs: number;
  /** The dialogue without message bytes and without credentials, at most 4 KB. */
  transcript: string;
}

/**
 * `sent`: 250 after the final dot, the remote side is responsible (`delivered`: final too); or nothing
 * left this machine, by a key of the configuration (`capturedBy`).
 * `deferred`: try again later. `bounced`: refused for good by a 5xx reply.
 * `failed`: given up by our own rule (policy, no route) without a 5xx from the recipient's side.
 */
export type Outcome =
  | { kind: 'sent'; reply: RemoteReply; trace: AttemptTrace; capturedBy?: CapturedBy }
  | { kind: 'deferred'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'bounced'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'failed'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace };

/**
 * `connection`: refused, lost or timed out. `protocol`: what arrived is no SMTP, or was not asked for.
 * `refused`: the server turned the whole session away (banner, EHLO, 421 anywhere). `tls`: demanded
 * and not had. `auth`: our credentials were not taken.
 */
export type FaultKind = 'connection' | 'protocol' | 'refused' | 'tls' | 'auth';

/** Enhanced codes (RFC 3463) of faults that come without a reply. */
const localCodes: Record<FaultKind, string> = {
  connection: '4.4.2',
  protocol: '4.5.0',
  refused: '4.3.2',
  tls: '4.7.5',
  auth: '4.7.8',
};

export class SmtpFault extends Error {
  readonly kind: FaultKind;
  readonly reply: RemoteReply;
  /** The connection was closed or reset under us, rather than given up by us. */
  readonly isLoss: boolean;

  constructor(kind: FaultKind, reply: RemoteReply, isLoss = false) {
    super(reply.text);
    this.kind = kind;
    this.reply = reply;
    this.isLoss = isLoss;
  }

  /** The connection was lost while the reply to `verb` was waited for. */
  static lost(verb: string, text: string) {
    const { reply } = SmtpFault.of('connection', verb, text);
    return new SmtpFault('connection', reply, true);
  }

  /** A fault that we state ourselves, without a reply of the server. */
  static of(kind: FaultKind, verb: string, text: string, enhancedCode = localCodes[kind]) {
    return new SmtpFault(kind, { code: null, enhancedCode, text, verb });
  }
}
