// The lines of the mail log that the listeners write: each mail that came in, each refusal of a sender, a
// recipient or a message, and each refusal of a login or a mail that was to be submitted.
import type { App } from '../../src/app.ts';
import type { ServiceError } from '../../src/errors.ts';
import type { ReceivedEnvelope } from '../../src/inbound/receive.ts';
import { LineLimit, mailLogOf } from '../../src/runtime/mail-log.ts';
import { perApp } from '../../src/runtime/per-app.ts';
import type { SmtpRefusal } from './errors.ts';
import type { Session } from './sessions.ts';

/** Whoever guesses names gets a refusal for each: more than this of them in a second are counted. */
const refusalsPerSecond = 100;
/** A mail may be for 100 of ours. */
const mostNamed = 10;
/** An address is at most 320 characters; a stranger's may be longer. */
const mostAddressCharacters = 320;

const refusalsOf = perApp((app: App) => new LineLimit(app.clock, refusalsPerSecond));
const submissionRefusalsOf = perApp((app: App) => new LineLimit(app.clock, refusalsPerSecond));

/** A mail was stored, and its 250 is said next. */
export function logReceived(
  app: App,
  { id, remoteAddress, helo, tls, mailFrom, addressees }: ReceivedEnvelope,
  bytes: number,
  messageIds: readonly string[],
): void {
  mailLogOf(app)?.info(
    {
      id,
      remoteAddress,
      helo,
      tls,
      from: mailFrom,
      recipients: addressees.slice(0, mostNamed).map(({ address }) => address),
      recipientCount: addressees.length,
      bytes,
      messageIds: messageIds.slice(0, mostNamed),
    },
    'mail received',
  );
}

/** `verb` was refused; `recipient` is the one that RCPT named. */
export function logRefusal(
  app: App,
  verb: 'MAIL' | 'RCPT' | 'DATA',
  { address: remoteAddress, transaction }: Session,
  { refusal }: SmtpRefusal,
  recipient?: string,
): void {
  const log = mailLogOf(app);
  const admitted = log && refusalsOf(app).admit();
  if (!admitted) return;
  const { code, enhancedCode, text, domain } = refusal;
  log.info(
    {
      remoteAddress,
      verb,
      from: transaction.mailFrom.slice(0, mostAddressCharacters),
      recipient: recipient?.slice(0, mostAddressCharacters),
      code,
      enhancedCode,
      domain,
      reason: text,
      ...admitted,
    },
    'mail refused',
  );
}

/** Who was refused at the submission listener. */
export interface RefusedProgram {
  keyId: string | null;
  address: string;
}

/** A login or a submitted mail was refused. */
export function logRefusedSubmission(
  app: App,
  { keyId, address }: RefusedProgram,
  { reason, message }: ServiceError,
): void {
  const log = mailLogOf(app);
  const admitted = log && submissionRefusalsOf(app).admit();
  if (admitted) log.info({ keyId, address, reason, message, ...admitted }, 'submission refused');
}
