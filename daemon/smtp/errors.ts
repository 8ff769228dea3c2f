// Refusals of the SMTP listener besides the refusals of src/inbox/receiving and the syntax errors
// of the library (RFC 5321 4.2, RFC 3463). smtp-server takes refusals as Errors.
import type { App } from '../../src/core/app.ts';
import { type InboundRefusal, refused } from '../../src/inbox/receiving/refusal.ts';

/** A refusal in the library's form; the enhanced code leads the text (see connection.ts). */
export class SmtpRefusal extends Error {
  readonly responseCode: number;
  readonly refusal: InboundRefusal;
  constructor(refusal: InboundRefusal) {
    super(`${refusal.enhancedCode} ${refusal.text}`);
    this.responseCode = refusal.code;
    this.refusal = refusal;
  }
}

export const replies = {
  tooManyConnections: refused(421, '4.7.0', 'Too many connections, try again in a moment'),
  tooManyRefusals: refused(421, '4.7.0', 'Too many errors, closing the connection'),
  tooIdle: refused(421, '4.7.0', 'Too many commands without a mail, closing the connection'),
  idle: refused(421, '4.4.2', 'Nothing was received for too long, closing the connection'),
  tooSlow: refused(421, '4.4.2', 'No message was finished in time, closing the connection'),
  yields: refused(
    421,
    '4.4.2',
    'Nothing was received for too long, and other clients wait for a connection',
  ),
  slowData: refused(
    421,
    '4.4.2',
    'The message arrives slower than 1 KB a second: closing the connection',
  ),
  yieldsMemory: refused(
    421,
    '4.3.1',
    'This message arrived slowest, and other clients wait to send theirs',
  ),
  closing: refused(421, '4.3.2', 'The service is stopping, try again in a moment'),
  tooLarge: refused(552, '5.3.4', 'The message is larger than this server accepts'),
  tooManyCopies: refused(452, '4.5.3', 'Too many recipients for a message of this size'),
  noMemory: refused(452, '4.3.1', 'Too much mail is arriving, try again in a moment'),
  needsSmtpUtf8: refused(553, '5.6.7', 'An address that is not ASCII needs SMTPUTF8'),
  storeTrouble: refused(451, '4.3.0', 'The message cannot be stored now, try again later'),
} as const;

/** Logs an error of the service, and returns a 451, so that the client tries again later. */
export function ourFault(app: App, error: unknown, doing: string): SmtpRefusal {
  app.log.error({ err: error }, `${doing} failed: the client was asked to try again`);
  return new SmtpRefusal(replies.storeTrouble);
}
