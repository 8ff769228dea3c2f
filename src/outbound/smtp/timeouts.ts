// How long each step of an SMTP session may take. Shorter than RFC 5321 4.5.3.2 asks of patient
// clients, but for the dot, where giving up early makes duplicates.

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
  /** Connection, banner, EHLO, STARTTLS and AUTH together. */
  openingMs: number;
  /** One message on an open session, from MAIL to the reply to the dot. */
  deliveryMs: number;
}

export const defaultTimeouts: SmtpTimeouts = {
  connectMs: 30_000,
  bannerMs: 60_000,
  commandMs: 60_000,
  dataMs: 120_000,
  progressMs: 180_000,
  dotMs: 600_000,
  quitMs: 2_000,
  openingMs: 180_000,
  deliveryMs: 1_200_000,
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
