// The result for a recipient in a delivery attempt, and the fault that ends a session. A remote
// refusal is a value, never an exception; src/outbound/queue/settling/settle.ts turns it into
// statuses, events and retries. Faults are thrown inside src/mail/smtp/ only: openSession and
// deliver turn them into values.

import type { CapturedBy } from './route.ts';

/** `errorCode` of a delivery; null if an attempt succeeded. */
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

/** The reply of the remote side, kept for `errorDetails`. */
export interface RemoteReply {
  /** SMTP reply code (RFC 5321 4.2); null if no reply came (connection fault). */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463), if the reply carried a code. */
  enhancedCode: string | null;
  /** Reply text without codes, lines joined by a space, at most 1,000 characters, printable. */
  text: string;
  /**
   * The answered verb: `connect`, `EHLO`, `STARTTLS`, `AUTH`, `MAIL`, `RCPT`, `DATA`, `dot`, `dns`.
   */
  verb: string;
}

/** A certificate that a server showed. */
export interface PeerCertificate {
  /** Common name of the certificate, or else the first name; '' without any. */
  subject: string;
  /** SHA-256 of the certificate in DER form, in hex. */
  sha256: string;
}

/** Facts about a message that a server accepted, for the receipt. */
export interface Handover {
  /** SHA-256 of the message before dot-stuffing, in hex. */
  digest: string;
  /** True if 8-bit parts were encoded, since the server offers no 8BITMIME. */
  isSevenBit?: boolean;
  /** Return path without angle brackets; empty for the null path. */
  returnPath: string;
  /** Certificate chain of the server, leaf first; empty in plain text. */
  certificates: readonly PeerCertificate[];
  /** Rule that proved the server's name: DANE (RFC 7672) or MTA-STS (RFC 8461). */
  policy: TlsPolicy | null;
}

export type TlsPolicy = 'dane' | 'mta-sts';

/** Host, time and dialogue of an attempt; becomes an entry of the attempt history. */
export interface AttemptTrace {
  /** MX or relay name. */
  host: string | null;
  /** The address of the connection. */
  address: string | null;
  /** TLS version and cipher, e.g. `TLSv1.3 TLS_AES_256_GCM_SHA384`; null for plain text. */
  tls: string | null;
  startedAt: number;
  durationMs: number;
  /**
   * The dialogue without message bytes and credentials, at most 4 KB; of a success, only the
   * server's lines.
   */
  transcript: string;
  /** Set for a message that a server accepted. */
  handover?: Handover;
}

/**
 * `sent`: 250 after the final dot, so the remote side is responsible (`delivered`: final too); or a
 * key of the configuration kept the message on this machine (`capturedBy`). `deferred`: try again
 * later. `bounced`: refused permanently by a 5xx reply. `failed`: given up by a rule of ours
 * (policy, no route) without a 5xx from the recipient's side.
 */
export type Outcome =
  | { kind: 'sent'; reply: RemoteReply; trace: AttemptTrace; capturedBy?: CapturedBy }
  | { kind: 'deferred'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'bounced'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'failed'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace };

/**
 * `connection`: refused, lost or timed out. `protocol`: the server sent bytes that are not SMTP, or
 * unsolicited bytes. `refused`: the server refused the whole session (banner, EHLO, 421 anywhere).
 * `tls`: required and not available. `auth`: the server refused our credentials.
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
  /** True if the server closed or reset the connection, false if we gave it up. */
  readonly isLoss: boolean;

  constructor(kind: FaultKind, reply: RemoteReply, isLoss = false) {
    super(reply.text);
    this.kind = kind;
    this.reply = reply;
    this.isLoss = isLoss;
  }

  /** Builds the fault for a connection lost before the reply to `verb`. */
  static lost(verb: string, text: string) {
    const { reply } = SmtpFault.of('connection', verb, text);
    return new SmtpFault('connection', reply, true);
  }

  /** Builds a fault of our own, without a reply of the server. */
  static of(kind: FaultKind, verb: string, text: string, enhancedCode = localCodes[kind]) {
    return new SmtpFault(kind, { code: null, enhancedCode, text, verb });
  }
}
