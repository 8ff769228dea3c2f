// The mail log lines of the listeners: received mail, refusals of a sender, a recipient or a
// message, and refusals of a login or a submitted mail.
import type { App } from '../../src/core/app.ts';
import type { ReceivedEnvelope } from '../../src/inbox/receiving/receive.ts';
import type { ServiceError } from '../../src/platform/errors.ts';
import { LineLimit, mailLogOf } from '../../src/platform/runtime/mail-log.ts';
import { perApp } from '../../src/platform/runtime/per-app.ts';
import type { SmtpRefusal } from './errors.ts';
import type { Session } from './sessions.ts';

/**
 * Number of lines per second above which refusals are only counted: each guessed name causes a
 * refusal.
 */
const refusalsPerSecond = 100;
/** Most recipients, and most message ids, in a log line; a mail may have 100 recipients. */
const mostNamed = 10;
/** Most characters logged of an address. Valid addresses have at most 320. */
const mostAddressCharacters = 320;

const refusalsOf = perApp((app: App) => new LineLimit(app.clock, refusalsPerSecond));
const submissionRefusalsOf = perApp((app: App) => new LineLimit(app.clock, refusalsPerSecond));

/** Logs a stored mail, just before the 250. */
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

/** Logs a refusal of `verb`; `recipient` is the address in RCPT. */
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

/** The refused client of the submission listener. */
export interface RefusedProgram {
  keyId: string | null;
  address: string;
}

/** Logs a refusal of a login or a submitted mail. */
export function logRefusedSubmission(
  app: App,
  { keyId, address }: RefusedProgram,
  { reason, message }: ServiceError,
): void {
  const log = mailLogOf(app);
  const admitted = log && submissionRefusalsOf(app).admit();
  if (admitted) log.info({ keyId, address, reason, message, ...admitted }, 'submission refused');
}
