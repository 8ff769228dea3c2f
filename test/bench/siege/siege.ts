// Shared by the attackers of the siege: the address of the daemon, and their own resources there.

export interface Siege {
  httpPort: number;
  smtpPort: number;
  /** An owner's key of the attacking organization. */
  apiKey: string;
  /** A key bound to the mailbox that may only propose. */
  boundKey: string;
  mailboxId: string;
  /** Address of the mailbox. */
  address: string;
  domain: string;
  seed: number;
}
