// What the attackers of the siege know: where the daemon is, and what they own there.

export interface Siege {
  httpPort: number;
  smtpPort: number;
  /** An owner's key of the attacking organization. */
  apiKey: string;
  /** A key bound to the mailbox that may only propose. */
  boundKey: string;
  mailboxId: string;
  /** Of the mailbox. */
  address: string;
  domain: string;
  seed: number;
}
