// What became of one recipient in one delivery attempt. A remote refusal is a value, never an
// exception (ARCHITECTURE.md, "Rules"); src/queue/settle.ts turns it into statuses, events and retries.

/** `errorCode` of a delivery (contract 5); null where an attempt succeeded. */
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
 * `sent`: 250 after the final dot, the remote side is responsible (`delivered`: final too).
 * `deferred`: try again later. `bounced`: refused for good by a 5xx reply.
 * `failed`: given up by our own rule (policy, no route) without a 5xx from the recipient's side.
 */
export type Outcome =
  | { kind: 'sent'; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'deferred'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'bounced'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace }
  | { kind: 'failed'; errorCode: ErrorCode; reply: RemoteReply; trace: AttemptTrace };
