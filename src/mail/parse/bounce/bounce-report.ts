// Reads bounces: RFC 3464 reports and the many notices in prose. Pure: the caller finds the bounced
// message (by token or Message-ID) and decides the consequences.
import type { ParsedMail, ReportPart } from '../../mime/parsed-mail.ts';
import { findHeader } from '../../mime/parsed-mail.ts';
import type { BouncedRecipient } from './bounced-recipient.ts';
import { readDeliveryStatus } from './delivery-status.ts';
import { type Notice, readNotice, readNoticeRecipients, readPreamble } from './notice.ts';
import {
  daemonLocalPart,
  daemonName,
  delayOpening,
  failureOpening,
  noticeSubject,
  otherNotice,
  otherNoticeText,
} from './notice-words.ts';
import { readReportAddress } from './report-fields.ts';
import { readReturnedMessage } from './returned-copy.ts';

export interface BounceReport {
  /** Form of the bounce. `report`: machine-readable fields. `notice`: prose. */
  source: 'report' | 'notice';
  /** Name that the reporting system states for itself (Reporting-MTA); null if not stated. */
  reportingMta: string | null;
  /** Bounced recipients: at least 1, at most 100. */
  recipients: BouncedRecipient[];
  /** Message-ID of the bounced message, with angle brackets. */
  originalMessageId: string | null;
  /** Addresses `bounce+<token>@` and `unsub+<token>@` in the returned copy. */
  tokenAddresses: string[];
}

const statusTypes = ['message/delivery-status', 'message/global-delivery-status'];
const maxSubjectCharacters = 998;
const flatReport = /^[ \t>]{0,4}Final-Recipient[ \t]{0,4}:/im;

/** Returns the subject, cut to the length of a header line. */
function subjectOf(mail: ParsedMail): string {
  return (mail.subject ?? '').slice(0, maxSubjectCharacters);
}

function isOfDaemon(mail: ParsedMail): boolean {
  const { from } = mail;
  if (from === null) {
    // `MAILER-DAEMON <>` and `MAILER-DAEMON` have no address, so the text of the field is compared.
    const name = (findHeader(mail, 'from') ?? '').replace(/<>|"/g, '').trim();
    return daemonLocalPart.test(name) || daemonName.test(name);
  }
  const localPart = from.email.slice(0, from.email.lastIndexOf('@'));
  return daemonLocalPart.test(localPart) || daemonName.test(from.name ?? '');
}

/** Returns true for automatic mail that may mention delivery but is not a bounce. */
function isOtherNotice(mail: ParsedMail, notice: Notice): boolean {
  if (mail.autoReplyReason === 'out-of-office' || mail.autoReplyReason === 'read-receipt')
    return true;
  const isOwnReport = mail.reportType !== null && mail.reportType !== 'delivery-status';
  return (
    isOwnReport ||
    findHeader(mail, 'list-id') !== null ||
    otherNotice.test(subjectOf(mail).trim()) ||
    otherNoticeText.test(readPreamble(notice))
  );
}

/**
 * Returns true for a mail with the null return path that is neither an automatic answer nor, by the
 * subject, a reply or forward: such a notice may come from any address. Also true for mail that
 * auto-reply.ts classified as `delivery-status`.
 */
function isOfNobody(mail: ParsedMail): boolean {
  if (mail.autoReplyReason === 'delivery-status') return true;
  if (findHeader(mail, 'return-path') !== '<>' || mail.autoReplyReason !== null) return false;
  return !/^\s*(?:re|aw|antw|sv|tr|r|fwd?|wg)\s*:/i.test(subjectOf(mail));
}

/**
 * Returns true for prose of a mail system that says in subject and text that it gave up or still
 * tries, and for mail with X-Failed-Recipients.
 */
function isNotice(mail: ParsedMail, notice: Notice): boolean {
  if (isOtherNotice(mail, notice)) return false;
  if (findHeader(mail, 'x-failed-recipients') !== null) return true;
  const isSubject = noticeSubject.test(subjectOf(mail));
  const isFromSystem = isOfDaemon(mail) || isOfNobody(mail);
  const opening = notice.lines.join(' ').slice(0, 4096);
  const isOpening =
    failureOpening.test(opening) ||
    delayOpening.test(opening) ||
    flatReport.test(notice.lines.join('\n'));
  return isFromSystem && isOpening && (isSubject || mail.autoReplyReason === 'delivery-status');
}

function isReport(mail: ParsedMail): boolean {
  return (
    mail.reportType === 'delivery-status' ||
    mail.autoReplyReason === 'delivery-status' ||
    isOfDaemon(mail)
  );
}

/**
 * Returns true if the part is known to be complete: another part follows, or the multipart is
 * closed.
 */
function isWhole(mail: ParsedMail, part: ReportPart): boolean {
  const isCut = mail.parsingErrors.some(
    (fault) =>
      ['unclosed-multipart', 'too-many-parts', 'part-header-too-large'].includes(fault.code) ||
      (fault.code === 'report-truncated' && fault.part === part.partNumber),
  );
  return !isCut || mail.reports.at(-1) !== part;
}

function readFailedHeader(mail: ParsedMail): string[] {
  const addresses = (findHeader(mail, 'x-failed-recipients') ?? '').split(',').slice(0, 100);
  return addresses.map((one) => readReportAddress(one)).filter((one) => one !== null);
}

/**
 * Adds the reason from the prose if the report fields give none (only `Status: 5.0.0`, or an empty
 * text). Sets `isHard` only if the fields prove a permanent failure.
 */
function enrich(
  recipient: BouncedRecipient,
  fromNotice: BouncedRecipient[],
  isFinal: boolean,
): BouncedRecipient {
  const isVague = recipient.errorCode === 'unknown' && recipient.enhancedCode === '5.0.0';
  if (recipient.errorCode === null || (recipient.text !== '' && !isVague)) return recipient;
  const same = fromNotice.find((one) => one.email === recipient.email || fromNotice.length === 1);
  if (!same || same.text === '') return recipient;
  const isSilent = recipient.errorCode === 'unknown' && recipient.action === same.action;
  const { code, text, errorCode } = same;
  if (isVague && same.action === recipient.action && errorCode !== 'unknown') {
    const enhancedCode = same.enhancedCode ?? recipient.enhancedCode;
    return { ...recipient, code, text, errorCode, enhancedCode, isHard: isFinal && same.isHard };
  }
  if (recipient.text !== '') return recipient;
  return isSilent ? { ...recipient, code, text, errorCode } : { ...recipient, code, text };
}

/**
 * Returns true if report fields within a text are complete: an empty line with more text follows,
 * or the returned copy.
 */
function goesOnBehind(text: string, { quoted }: Notice): boolean {
  const last = text.slice(text.toLowerCase().lastIndexOf('final-recipient'));
  const gap = /\n[ \t>]{0,4}\n/.exec(last);
  const after = gap ? last.slice(gap.index + gap[0].length) : '';
  return quoted.trim() !== '' || after.trim() !== '';
}

/**
 * Reads a bounce or a delay notice; returns null for other mail: answers of people or machines,
 * receipts, challenges. Never throws. An unknown reason is `unknown` and not hard; `isHard`
 * requires unmistakable words or codes of a complete report. Success reports come with `delivered`,
 * `relayed` or `expanded`.
 */
export function readBounce(mail: ParsedMail): BounceReport | null {
  const notice = readNotice(mail);
  const part = mail.reports.find(({ contentType }) => statusTypes.includes(contentType));
  const isProse = isNotice(mail, notice);
  const returned = readReturnedMessage(mail, notice.quoted);
  const ends = { originalMessageId: returned.messageId, tokenAddresses: returned.tokenAddresses };
  const readProse = () => {
    const own = [...mail.to, ...mail.cc, ...(mail.from ? [mail.from] : [])];
    const others = new Set(own.map(({ email }) => email.toLowerCase()));
    if (returned.from !== null) others.add(returned.from);
    return readNoticeRecipients(notice, {
      subject: subjectOf(mail),
      others,
      failed: readFailedHeader(mail),
      isCertain: isOfDaemon(mail) || findHeader(mail, 'x-failed-recipients') !== null,
    });
  };
  const fields = part && isReport(mail) ? readDeliveryStatus(part.text, isWhole(mail, part)) : null;
  if (fields && fields.recipients.length > 0) {
    const prose = isProse ? readProse() : [];
    const isFinal = fields.isFailure && part !== undefined && isWhole(mail, part);
    const recipients = fields.recipients.map((one) => enrich(one, prose, isFinal));
    return { source: 'report', reportingMta: fields.reportingMta, recipients, ...ends };
  }
  if (!isProse) return null;
  const text = notice.lines.join('\n');
  // Some gateways flatten a report into a single text, in which the fields are still readable.
  const isCertain = isOfDaemon(mail) && goesOnBehind(text, notice);
  const flat = flatReport.test(text) ? readDeliveryStatus(text, isCertain) : null;
  if (flat && flat.recipients.length > 0) {
    return {
      source: 'notice',
      reportingMta: flat.reportingMta,
      recipients: flat.recipients,
      ...ends,
    };
  }
  return { source: 'notice', reportingMta: null, recipients: readProse(), ...ends };
}
