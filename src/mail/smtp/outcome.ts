// The result for a recipient in a delivery attempt, and the fault that ends a session. A remote
// refusal is a value, never an exception. src/outbound/queue/settling/settle.ts turns results into
// statuses, events and retries. Faults are thrown only inside src/mail/smtp: openSession and
// deliver return them as values.

import type { CapturedBy } from './route.ts';

/** Reason of a failure, as `errorCode` of a delivery. */
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

/** Reply of the remote server, as shown in `errorDetails`. */
export interface RemoteReply {
  /** SMTP reply code (RFC 5321 4.2); null without a reply, after a connection fault. */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463), if the reply has it. */
  enhancedCode: string | null;
  /** Reply text without codes: lines joined by spaces, printable, at most 1,000 characters. */
  text: string;
  /**
   * Answered command: `connect`, `EHLO`, `STARTTLS`, `AUTH`, `MAIL`, `RCPT`, `DATA`, `dot`, `dns`.
   */
  verb: string;
}

/** Certificate that a server presented. */
export interface PeerCertificate {
  /** Common name of the certificate, or else the first alternative name; '' without a name. */
  subject: string;
  /** SHA-256 of the certificate in DER form, in hex. */
  sha256: string;
}

/** Facts about a message that a server accepted, for the receipt. */
export interface Handover {
  /** SHA-256 of the message before dot-stuffing, in hex. */
  digest: string;
  /** True if 8-bit parts were encoded because the server lacks 8BITMIME. */
  isSevenBit?: boolean;
  /** Return path without angle brackets; empty for the null path. */
  returnPath: string;
  /** Certificate chain of the server, leaf first; empty without TLS. */
  certificates: readonly PeerCertificate[];
  /** Policy by which the server's name was proven: DANE (RFC 7672) or MTA-STS (RFC 8461). */
  policy: TlsPolicy | null;
}

export type TlsPolicy = 'dane' | 'mta-sts';

/** Host, time and SMTP dialogue of an attempt, for the attempt history. */
export interface AttemptTrace {
  /** Name of the MX host or relay that was tried last; null if none was tried. */
  host: string | null;
  /** IP address of `host` that was tried last; null if no address was tried. */
  address: string | null;
  /** TLS version and cipher, such as `TLSv1.3 TLS_AES_256_GCM_SHA384`; null for plain text. */
  tls: string | null;
  startedAt: number;
  durationMs: number;
  /**
   * SMTP dialogue without message and credentials, at most 4 KB. After a success only the server's
   * lines.
   */
  transcript: string;
  /** Set for a message that a server accepted. */
  handover?: Handover;
}

/**
 * Result for a recipient. `sent`: the server answered 250 after the final dot and is now
 * responsible, or a setting kept the message on this machine (`capturedBy` is the key of the
 * setting). `deferred`: try again later. `bounced`: refused permanently with 5xx. `failed`: given
 * up by a rule of ours (policy, no route).
 */
export type Outcome =
  | { kind: 'sent'; reply: RemoteReply; trace: AttemptTrace; capturedBy?: CapturedBy }
  | { kind: 'deferred'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'bounced'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'failed'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace };

/**
 * `connection`: refused, lost or timed out. `protocol`: the server sent bytes that are not SMTP, or
 * sent bytes too early. `refused`: the server refused the whole session (banner, EHLO, or any 421).
 * `tls`: required but not available. `auth`: the server refused our credentials.
 */
export type FaultKind = 'connection' | 'protocol' | 'refused' | 'tls' | 'auth';

/** Enhanced codes (RFC 3463) of faults without a reply. */
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
  /** True if the server closed or reset the connection; false if our side gave up. */
  readonly isLoss: boolean;

  constructor(kind: FaultKind, reply: RemoteReply, isLoss = false) {
    super(reply.text);
    this.kind = kind;
    this.reply = reply;
    this.isLoss = isLoss;
  }

  /** Builds the fault of a connection that was lost before the reply to `verb`. */
  static lost(verb: string, text: string) {
    const { reply } = SmtpFault.of('connection', verb, text);
    return new SmtpFault('connection', reply, true);
  }

  /** Builds a fault that our side found, without a reply of the server. */
  static of(kind: FaultKind, verb: string, text: string, enhancedCode = localCodes[kind]) {
    return new SmtpFault(kind, { code: null, enhancedCode, text, verb });
  }
}
