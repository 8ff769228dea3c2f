// Complaints of recipients forwarded by their provider: ARF feedback reports (RFC 5965, RFC 6650)
// and Hotmail's plain forwards. Pure: the caller finds the message.
import { readDate } from '../../mime/headers/header-values.ts';
import type { ParsedMail } from '../../mime/parsed-mail.ts';
import { findHeader } from '../../mime/parsed-mail.ts';
import {
  type ReportBlock,
  readReportAddress,
  readReportBlocks,
  withoutType,
} from './report-fields.ts';
import { findTokenAddresses, readReturnedMessage } from './returned-copy.ts';

/**
 * Types of complaints (RFC 5965 7.3 and the IANA registry), in lower case. `not-spam` and
 * `auth-failure` are missing: they are not complaints.
 */
export type FeedbackType =
  | 'abuse'
  | 'fraud'
  | 'virus'
  | 'opt-out'
  | 'opt-out-list'
  | 'miscategorized'
  | 'other';

export interface Complaint {
  feedbackType: FeedbackType;
  /** Recipients that complained; empty if the provider hides them. */
  recipients: string[];
  /** Message-ID of the reported message, with angle brackets. */
  originalMessageId: string | null;
  /** Addresses `bounce+<token>@` and `unsub+<token>@` in the fields and in the returned copy. */
  tokenAddresses: string[];
  /** MAIL FROM of the message, as seen by the provider. */
  originalMailFrom: string | null;
  /** IP address from which the provider received the message. */
  sourceIp: string | null;
  /** Reporting software, such as `Yahoo!-Mail-Feedback/2.0`. */
  userAgent: string | null;
  /** Time when the message reached the provider, in ms since 1970. */
  arrivedAt: number | null;
  /** Number of complaints in the report, at least 1. */
  incidents: number;
}

const feedbackTypes: readonly FeedbackType[] = [
  'abuse',
  'fraud',
  'virus',
  'opt-out',
  'opt-out-list',
  'miscategorized',
  'other',
];
const noComplaints = ['not-spam', 'notspam', 'auth-failure', 'dkim'];
const maxRecipients = 100;
const maxIncidents = 1_000_000;
const hidden = /^(?:redacted|undisclosed|hidden|anonymous|x+)@|@(?:redacted|hidden)/i;
const jmrpSubject = /^complaint about message from\b/i;

function readRecipients(values: readonly (string | null)[]): string[] {
  const emails = values
    .slice(0, maxRecipients)
    .map((value) => readReportAddress(value))
    .filter((email) => email !== null && !hidden.test(email));
  return [...new Set(emails)] as string[];
}

function readIncidents(value: string | null): number {
  const count = /^\d{1,9}$/.test(value ?? '') ? Number(value) : 1;
  return Math.min(Math.max(count, 1), maxIncidents);
}

/**
 * Returns null for types that are not complaints; an unknown type counts as `other`, as RFC 5965
 * 3.1 requires.
 */
function readType(block: ReportBlock): FeedbackType | null {
  const value = (block.first('feedback-type') ?? '').toLowerCase().trim();
  if (noComplaints.includes(value)) return null;
  return feedbackTypes.find((type) => type === value) ?? 'other';
}

function readReport(mail: ParsedMail, text: string): Complaint | null {
  const block = readReportBlocks(text).find((one) => one.has('feedback-type'));
  if (!block) return null;
  const feedbackType = readType(block);
  if (feedbackType === null) return null;
  const returned = readReturnedMessage(mail, '');
  const mailFrom = block.first('original-mail-from');
  const sourceIp = block.first('source-ip');
  return {
    feedbackType,
    recipients: readRecipients([
      ...block.all('original-rcpt-to'),
      ...block.all('removal-recipient'),
      ...block.all('x-hmxmroriginalrecipient'),
    ]),
    originalMessageId: returned.messageId,
    tokenAddresses: [...new Set([...findTokenAddresses(text), ...returned.tokenAddresses])],
    originalMailFrom: readReportAddress(mailFrom),
    sourceIp: sourceIp === null ? null : withoutType(sourceIp).slice(0, 64) || null,
    userAgent: block.first('user-agent')?.slice(0, 255) ?? null,
    arrivedAt: readDate(block.first('arrival-date') ?? block.first('received-date')),
    incidents: readIncidents(block.first('incidents')),
  };
}

/**
 * Reads Hotmail's older form: the message attached, the recipient in a field of the outer header.
 */
function readForward(mail: ParsedMail): Complaint | null {
  const recipient = findHeader(mail, 'x-hmxmroriginalrecipient');
  const hasCopy = mail.reports.some(({ contentType }) => contentType === 'message/rfc822');
  if (!hasCopy || (recipient === null && !jmrpSubject.test(mail.subject ?? ''))) return null;
  const returned = readReturnedMessage(mail, '');
  return {
    feedbackType: 'abuse',
    recipients: readRecipients([recipient]),
    originalMessageId: returned.messageId,
    tokenAddresses: returned.tokenAddresses,
    originalMailFrom: null,
    sourceIp: /(?:\d{1,3}\.){3}\d{1,3}/.exec(mail.subject ?? '')?.[0] ?? null,
    userAgent: null,
    arrivedAt: mail.date,
    incidents: 1,
  };
}

/**
 * Reads a complaint; returns null for other mail: `not-spam` reports, authentication
 * failure reports (RFC 6591), anything else. Never throws.
 */
export function readComplaint(mail: ParsedMail): Complaint | null {
  const part = mail.reports.find(({ contentType }) => contentType === 'message/feedback-report');
  return part ? readReport(mail, part.text) : readForward(mail);
}
