// How long each step of an SMTP session may take, and several together: bytes that trickle in move no
// deadline. Shorter than the minutes that RFC 5321 4.5.3.2 asks of patient clients, as a connection that
// stands still keeps others waiting and nothing is lost before the dot: the mail is tried again. Long
// enough for servers that are at work: greeting delays (half a minute), greylisting and look-ups of
// each recipient. After the dot giving up early makes duplicates: there it is as the RFC has it.

export interface SmtpTimeouts {
  /** The TCP connection; the TLS handshake has as long again. */
  connectMs: number;
  bannerMs: number;
  /** EHLO, STARTTLS, AUTH, MAIL, RCPT, RSET: each reply. */
  commandMs: number;
  /** The 354 to DATA. */
  dataMs: number;
  /** Each 64 KB of the message. */
  progressMs: number;
  /** The reply to the final dot. */
  dotMs: number;
  quitMs: number;
  /** Banner, EHLO, STARTTLS and AUTH together. */
  openingMs: number;
  /** The replies to MAIL, RCPT and DATA together, */
  envelopeMs: number;
  /** and for each recipient so much more: servers look each of them up. */
  recipientMs: number;
  /** One message from the 354 to the reply to the dot. */
  deliveryMs: number;
  /** Each step before the dot, as long as others wait for a place. */
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

/** The commands that get a reply; `connect` stands for the banner, `dot` for the end of the message. */
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

/** How long to wait for the reply to `verb`. */
export function replyTimeoutMs(timeouts: SmtpTimeouts, verb: Verb): number {
  if (verb === 'connect') return timeouts.bannerMs;
  if (verb === 'DATA') return timeouts.dataMs;
  if (verb === 'dot') return timeouts.dotMs;
  return verb === 'QUIT' ? timeouts.quitMs : timeouts.commandMs;
}
