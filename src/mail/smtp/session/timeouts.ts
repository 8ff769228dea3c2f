// Time limits of the steps of an SMTP session, and of several steps together; arriving bytes do not
// extend them. Before the dot they are shorter than the minutes of RFC 5321 4.5.3.2: a stalled
// connection blocks queued deliveries, and a retry loses nothing. They still allow for greeting
// delays (half a minute), greylisting and look-ups of each recipient. After the dot an early end
// would make duplicates, so the limit follows the RFC.

export interface SmtpTimeouts {
  /** Limit for the TCP connection. The TLS handshake has the same limit again. */
  connectMs: number;
  bannerMs: number;
  /** Limit for each reply to EHLO, STARTTLS, AUTH, MAIL, RCPT and RSET. */
  commandMs: number;
  /** Limit for the reply 354 to DATA. */
  dataMs: number;
  /** Limit for each 64 KB of the message. */
  progressMs: number;
  /** Limit for the reply to the final dot. */
  dotMs: number;
  quitMs: number;
  /** Limit for banner, EHLO, STARTTLS and AUTH together. */
  openingMs: number;
  /** Limit for the replies to MAIL, RCPT and DATA together, plus `recipientMs` per recipient. */
  envelopeMs: number;
  /** Time added to `envelopeMs` for each recipient, because servers look up each recipient. */
  recipientMs: number;
  /** Limit for a message, from the reply 354 to the reply to the dot. */
  deliveryMs: number;
  /** Limit for each step before the dot, while queued deliveries need the connection. */
  pressedMs: number;
}

export const defaultTimeouts: SmtpTimeouts = {
  connectMs: 30_000,
  bannerMs: 60_000,
  commandMs: 60_000,
  dataMs: 120_000,
  progressMs: 180_000,
  dotMs: 600_000,
  quitMs: 2_000,
  openingMs: 120_000,
  envelopeMs: 120_000,
  recipientMs: 5_000,
  deliveryMs: 1_200_000,
  pressedMs: 30_000,
};

/** Commands that get a reply; `connect` stands for the banner, `dot` for the end of the message. */
export type Verb =
  | 'connect'
  | 'EHLO'
  | 'HELO'
  | 'STARTTLS'
  | 'AUTH'
  | 'MAIL'
  | 'RCPT'
  | 'DATA'
  | 'dot'
  | 'RSET'
  | 'QUIT';

/** Returns the time limit for the reply to `verb`. */
export function replyTimeoutMs(timeouts: SmtpTimeouts, verb: Verb): number {
  if (verb === 'connect') return timeouts.bannerMs;
  if (verb === 'DATA') return timeouts.dataMs;
  if (verb === 'dot') return timeouts.dotMs;
  return verb === 'QUIT' ? timeouts.quitMs : timeouts.commandMs;
}
