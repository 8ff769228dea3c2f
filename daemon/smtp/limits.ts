// The limits of the SMTP listeners that the configuration does not contain, because only attackers
// and tests reach them. The library has no such limits.

export interface SmtpLimits {
  /**
   * Most connections from a single address, IPv6 by /64. Loopback is exempt, as captured mail comes
   * from there.
   */
  connectionsPerAddress: number;
  /** Most recipients in a transaction; RFC 5321 4.5.3.1.8 requires 100. */
  recipients: number;
  /** Refused commands and recipients after which a connection is closed. */
  refusals: number;
  /**
   * Commands on a connection since the last accepted MAIL or AUTH; RCPT, DATA and BDAT are not
   * counted. Clients that keep a connection send RSET or NOOP between mails.
   */
  idleCommands: number;
  /** Longest silence of a client while it must send; RFC 5321 4.5.3.2.7 asks for 5 minutes. */
  idleMs: number;
  /** Silence after which a new client may replace a client, if all connections are in use. */
  yieldMs: number;
  /**
   * Longest time from the greeting, or from an accepted message, to the end of the next message:
   * enough for 50 MB at 0.5 Mbit/s.
   */
  messageMs: number;
  /** Interval at which silence and message time are checked. */
  checkEveryMs: number;
  /** Bytes of memory for all incoming messages of the listener. */
  bufferedBytes: number;
  /** Most bytes stored for a message: the size times the number of mailboxes addressed. */
  copiedBytes: number;
}

export const standardSmtpLimits: SmtpLimits = {
  connectionsPerAddress: 20,
  recipients: 100,
  refusals: 1_000,
  idleCommands: 100,
  idleMs: 300_000,
  yieldMs: 30_000,
  messageMs: 900_000,
  checkEveryMs: 5_000,
  bufferedBytes: 256_000_000,
  copiedBytes: 256_000_000,
};

/** Bounds of the submission listener; the shared bounds have the same meaning. */
export interface SubmissionLimits extends Omit<SmtpLimits, 'copiedBytes'> {
  /** Most connections in total. The holder of a key may open many, even idle connections. */
  connections: number;
  /** Size above which a mail gets 552; about the limit of the API for attachments. */
  messageBytes: number;
  /** Most failed logins of an address in a minute; the next failure gets 421. */
  failedLoginsPerMinute: number;
}

export const standardSubmissionLimits: SubmissionLimits = {
  connections: 2_000,
  connectionsPerAddress: 200,
  recipients: 50,
  refusals: 100,
  idleCommands: 100,
  idleMs: 300_000,
  yieldMs: 30_000,
  messageMs: 900_000,
  checkEveryMs: 5_000,
  bufferedBytes: 256_000_000,
  messageBytes: 50_000_000,
  failedLoginsPerMinute: 20,
};
