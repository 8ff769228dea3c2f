// The bounds of the SMTP listeners that are not in the configuration: they matter to attackers and to
// tests only (the library has none of its own).

export interface SmtpLimits {
  /** From one address, IPv6 by its /64; loopback is exempt: captured mail comes from there. */
  connectionsPerAddress: number;
  /** In one transaction; RFC 5321 4.5.3.1.8 asks for 100. */
  recipients: number;
  /** Commands and recipients refused on one connection before it is closed. */
  refusals: number;
  /** Silence of a client that owes us input; RFC 5321 4.5.3.2.7 asks for 5 minutes. */
  idleMs: number;
  /** Silence after which a client yields to a new one where all connections are taken. */
  yieldMs: number;
  /** From the greeting, or from one message to the end of the next: 50 MB at 0.5 Mbit/s. */
  messageMs: number;
  /** How often both are looked at. */
  checkEveryMs: number;
  /** Held in memory for all messages that are on their way in. */
  bufferedBytes: number;
  /** Written for one message: its size times the mailboxes addressed. */
  copiedBytes: number;
}

export const standardSmtpLimits: SmtpLimits = {
  connectionsPerAddress: 20,
  recipients: 100,
  refusals: 1_000,
  idleMs: 300_000,
  yieldMs: 30_000,
  messageMs: 900_000,
  checkEveryMs: 5_000,
  bufferedBytes: 256_000_000,
  copiedBytes: 256_000_000,
};

/** Bounds of the submission listener; those that it shares mean the same. */
export interface SubmissionLimits extends Omit<SmtpLimits, 'copiedBytes'> {
  /** In all; who has a key may hold many, idle ones too. */
  connections: number;
  /** A mail larger than this gets 552; about what the API takes in attachments. */
  messageBytes: number;
  /** Of one address; the next one gets 421. */
  failedLoginsPerMinute: number;
}

export const standardSubmissionLimits: SubmissionLimits = {
  connections: 2_000,
  connectionsPerAddress: 200,
  recipients: 50,
  refusals: 100,
  idleMs: 300_000,
  yieldMs: 30_000,
  messageMs: 900_000,
  checkEveryMs: 5_000,
  bufferedBytes: 256_000_000,
  messageBytes: 50_000_000,
  failedLoginsPerMinute: 20,
};
