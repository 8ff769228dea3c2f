// Replies of the submission listener: the service's own refusals as SMTP replies, each with advice,
// and the replies of the dialogue itself. RFC 3463 has the enhanced codes.

import { type InboundRefusal, refused } from '../../src/inbox/receiving/refusal.ts';
import { InternalError, ServiceError } from '../../src/platform/errors.ts';

/** Maps HTTP status to reply code and enhanced code. A missing status gets 451 4.3.0. */
const codesOfStatus: ReadonlyMap<number, readonly [code: number, enhancedCode: string]> = new Map([
  [400, [554, '5.6.0']],
  [401, [535, '5.7.8']],
  [402, [452, '4.7.1']],
  [403, [550, '5.7.1']],
  [404, [550, '5.1.1']],
  [409, [554, '5.7.0']],
  [413, [552, '5.3.4']],
  [415, [554, '5.6.0']],
  [422, [554, '5.6.0']],
  [429, [451, '4.7.1']],
]);

/** A reply line has 512 octets (RFC 5321 4.5.3.1.5); a character may take four. */
const longestText = 400;

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return Buffer.byteLength(line) <= longestText ? line : `${line.slice(0, longestText / 4)}…`;
}

/** Converts any error of a send to a reply. Unexpected errors get 451. */
export function replyOf(error: unknown): InboundRefusal {
  const isOurFault = !(error instanceof ServiceError) || error instanceof InternalError;
  if (isOurFault) return submissionReplies.ourFault;
  const [code, enhancedCode] = codesOfStatus.get(error.status) ?? [451, '4.3.0'];
  return refused(code, enhancedCode, oneLine(error.message));
}

export const submissionReplies = {
  loginNeeded: refused(
    530,
    '5.7.0',
    'Log in first with AUTH PLAIN or LOGIN: any user name, an API key as the password',
  ),
  loginFailed: refused(
    535,
    '5.7.8',
    'The API key is not valid: use one as the password, with any user name',
  ),
  tooManyFailures: refused(421, '4.7.0', 'Too many failed logins from this address: wait a minute'),
  needsTls: refused(538, '5.7.11', 'Issue STARTTLS first: a key is not accepted unencrypted'),
  noTls: refused(
    538,
    '5.7.11',
    'This server has no certificate (smtp.submission.tls): only clients on the same ' +
      'machine can log in',
  ),
  badBase64: refused(501, '5.5.2', 'The response is not base64 of a user name and an API key'),
  loginAborted: refused(501, '5.7.0', 'Login aborted'),
  unknownMechanism: refused(504, '5.5.4', 'Unknown mechanism: this server accepts PLAIN and LOGIN'),
  loggedInAlready: refused(503, '5.5.1', 'Logged in already'),
  badAddress: refused(553, '5.1.3', 'The address is not a valid email address'),
  bareLineEnds: refused(
    554,
    '5.6.0',
    'A line of the message ends in a single LF or CR: end every line with CRLF',
  ),
  ourFault: refused(451, '4.3.0', 'The message cannot be accepted now, try again later'),
} as const;
