// The result of parsing a received mail: types of the email projection (specification 2.2), and the
// limits of every step. src/mail/parse/parse-mime.ts fills them.
import type { DocumentWords } from '../../platform/full-text/document.ts';

/**
 * A received header field: `value` is unfolded, trimmed, without control characters; encoded words
 * stay encoded.
 */
export interface HeaderField {
  name: string;
  value: string;
}

export interface HeaderAddress {
  /**
   * Address `local@domain`, in the form of src/platform/net/address.ts if that grammar covers it.
   */
  email: string;
  name: string | null;
}

/**
 * Reason why a part of a mail is missing or doubtful. A fault never stops the rest of the
 * projection.
 */
export type ParsingErrorCode =
  | 'mail-too-large'
  | 'header-too-large'
  | 'too-many-header-fields'
  | 'header-field-too-long'
  | 'malformed-header'
  | 'missing-header'
  | 'duplicate-header'
  | 'invalid-header'
  | 'too-many-addresses'
  | 'missing-boundary'
  | 'unclosed-multipart'
  | 'too-many-parts'
  | 'nested-too-deep'
  | 'part-header-too-large'
  | 'unknown-charset'
  | 'undecodable-text'
  | 'text-truncated'
  | 'html-truncated'
  | 'report-truncated'
  | 'split-truncated'
  | 'split-timeout'
  | 'parse-timeout'
  | 'parser-failed';

/** An element of `parsingErrors`. */
export interface ParsingError {
  code: ParsingErrorCode;
  /** A sentence for people; names the header field, if any. */
  message: string;
  /** IMAP number of the part (`1.2`); absent for the whole mail. */
  part?: string;
}

export type AutoReplyReason =
  | 'out-of-office'
  | 'auto-response'
  | 'delivery-status'
  | 'read-receipt';

export type MailPriority = 'high' | 'normal' | 'low';

/** An attachment without the bytes, which stay in the raw mail. */
export interface MailAttachment {
  /** Position among the attachments of this mail, from 0. */
  index: number;
  /** IMAP part number (RFC 9051 6.4.5): `1` if the mail consists of a single attachment. */
  partNumber: string;
  /** File name without folders and control characters; null if the mail has none. */
  filename: string | null;
  /** Media type `type/subtype`, lower case. */
  contentType: string;
  /** Content-ID without angle brackets. */
  contentId: string | null;
  disposition: 'attachment' | 'inline' | null;
  /** Number of decoded bytes. */
  size: number;
  /**
   * True for a part that the HTML shows, or that programs process, such as a signature: a reader
   * does not save such a part.
   */
  related: boolean;
}

/** A machine-readable part, for the parsers of bounces, complaints and receipts. */
export interface ReportPart {
  /** Media type: `message/delivery-status`, `message/feedback-report`, `message/rfc822`, … */
  contentType: string;
  partNumber: string;
  /** Decoded text; for an attached message only the header block. At most 64 KB. */
  text: string;
}

/** Content of the header block alone, which the receive path can afford to read. */
export interface HeaderSummary {
  subject: string | null;
  from: HeaderAddress | null;
  to: HeaderAddress[];
  cc: HeaderAddress[];
  /** Message-ID with angle brackets, as in `inReplyTo` and `references`. */
  messageIdHeader: string | null;
  inReplyTo: string | null;
  /** References, oldest first, at most 100: the first, then the newest. */
  references: string[];
  /** Time of the field Date, ms since 1970; null if the field is absent or not a date. */
  date: number | null;
}

export interface ParsedMail extends HeaderSummary {
  bcc: HeaderAddress[];
  replyTo: HeaderAddress[];
  text: string | null;
  html: string | null;
  /** The sender's own text, as plain text; null if the mail has no text. */
  newContent: string | null;
  quotedContent: string | null;
  hasQuotedContent: boolean;
  /** Signatures, which are in neither content above. */
  signature: string | null;
  isAutoReply: boolean;
  autoReplyReason: AutoReplyReason | null;
  listUnsubscribeUrl: string | null;
  listUnsubscribeEmail: string | null;
  listId: string | null;
  listHeaders: HeaderField[];
  priority: MailPriority | null;
  attachments: MailAttachment[];
  /** All fields in their order, unfolded, with encoded words unchanged. */
  headers: HeaderField[];
  /** Parameter `report-type` of a multipart/report (RFC 6522), lower case. */
  reportType: string | null;
  reports: ReportPart[];
  parsingErrors: ParsingError[];
  /**
   * Set if the worker ended before it finished the mail, so that a repeat may find more. `before`:
   * the worker had not begun this mail, so this mail is not the cause. `within`: it had begun.
   */
  cutShort?: 'before' | 'within';
  /** Words for full-text search (src/platform/full-text); absent if parsing was cut short. */
  words?: DocumentWords;
}

export interface ParseOptions {
  /** MAIL FROM; empty or null for the null return path, absent if unknown. */
  envelopeFrom?: string | null;
  /** Part number of the requested attachment. */
  partNumber?: string;
}

/** Limits of parsing: bytes of the raw mail, characters of decoded text, and counts. */
export const parseLimits = {
  mailBytes: 50 * 1024 * 1024,
  headerBytes: 256 * 1024,
  /**
   * Most lines of a header, folds included: mailauth takes 50 s for 64,000 lines of a single field,
   * and 10 ms for 2,000.
   */
  headerLines: 2000,
  headerFields: 1000,
  fieldCharacters: 64 * 1024,
  addressesPerField: 500,
  references: 100,
  parts: 500,
  depth: 20,
  textCharacters: 2 * 1024 * 1024,
  reportBytes: 64 * 1024,
  reports: 20,
  /**
   * Characters of text split into new and quoted content, over all pieces. Markup does not count.
   */
  splitCharacters: 256 * 1024,
  parsingErrors: 100,
} as const;

/** Returns the mail with a further parsing error. */
export function withFault(mail: ParsedMail, code: ParsingErrorCode, message: string): ParsedMail {
  return { ...mail, parsingErrors: [...mail.parsingErrors, { code, message }] };
}

/** Returns the first value of a field, or null; `name` in lower case. */
export function findHeader(mail: ParsedMail, name: string): string | null {
  return mail.headers.find((field) => field.name.toLowerCase() === name)?.value ?? null;
}
