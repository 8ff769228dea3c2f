// What parsing an inbound mail yields: the shapes behind the email projection (specification 2.2),
// and the bounds that every step holds. parse-mime.ts fills these in.
import type { DocumentWords } from '../../store/full-text/document.ts';

/** A header field as it came: `value` is unfolded, trimmed, without controls; encoded words stay. */
export interface HeaderField {
  name: string;
  value: string;
}

export interface HeaderAddress {
  /** `local@domain`, in the form of src/net/address.ts where that grammar covers it. */
  email: string;
  name: string | null;
}

/** Why a part of a mail is missing or doubtful. A fault never stops the rest of the projection. */
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
  /** A sentence for people; names the header field where there is one. */
  message: string;
  /** The IMAP number of the part concerned (`1.2`), absent for the mail as a whole. */
  part?: string;
}

export type AutoReplyReason =
  | 'out-of-office'
  | 'auto-response'
  | 'delivery-status'
  | 'read-receipt';

export type MailPriority = 'high' | 'normal' | 'low';

/** An attachment without its bytes: they stay in the raw mail. */
export interface MailAttachment {
  /** Position among the attachments of this mail, from 0. */
  index: number;
  /** IMAP part number (RFC 9051 6.4.5): `1` for a mail that is nothing but an attachment. */
  partNumber: string;
  /** Without folders and control characters; null where the mail names none. */
  filename: string | null;
  /** `type/subtype`, lower case. */
  contentType: string;
  /** Without angle brackets. */
  contentId: string | null;
  disposition: 'attachment' | 'inline' | null;
  /** Decoded bytes. */
  size: number;
  /** Inside multipart/related: shown by the HTML, not listed to people. */
  related: boolean;
}

/** A machine-readable part, for the bounce, complaint and receipt parsers. */
export interface ReportPart {
  /** `message/delivery-status`, `message/feedback-report`, `message/rfc822`, … */
  contentType: string;
  partNumber: string;
  /** The decoded text; of an attached message only its header block. At most 64 KB. */
  text: string;
}

/** What the header block alone tells; cheap enough for the receive path. */
export interface HeaderSummary {
  subject: string | null;
  from: HeaderAddress | null;
  to: HeaderAddress[];
  cc: HeaderAddress[];
  /** With angle brackets, as are `inReplyTo` and `references`. */
  messageIdHeader: string | null;
  inReplyTo: string | null;
  /** Oldest first, at most 100: the first, then the newest. */
  references: string[];
  /** Milliseconds since 1970, null where absent or not a date. */
  date: number | null;
}

export interface ParsedMail extends HeaderSummary {
  bcc: HeaderAddress[];
  replyTo: HeaderAddress[];
  text: string | null;
  html: string | null;
  /** What the sender wrote, as plain text; null where the mail has no text at all. */
  newContent: string | null;
  quotedContent: string | null;
  hasQuotedContent: boolean;
  isAutoReply: boolean;
  autoReplyReason: AutoReplyReason | null;
  listUnsubscribeUrl: string | null;
  listUnsubscribeEmail: string | null;
  listId: string | null;
  listHeaders: HeaderField[];
  priority: MailPriority | null;
  attachments: MailAttachment[];
  /** All fields in their order, unfolded; encoded words as they came. */
  headers: HeaderField[];
  /** `report-type` of a multipart/report (RFC 6522), lower case. */
  reportType: string | null;
  reports: ReportPart[];
  parsingErrors: ParsingError[];
  /**
   * Only where the worker ended before its mail did: another try may find more. `before` it had got the
   * mail, which is then not the mail's fault, or `within` it.
   */
  cutShort?: 'before' | 'within';
  /** The words that the mail is found by (src/store/full-text); absent where parsing was cut short. */
  words?: DocumentWords;
}

export interface ParseOptions {
  /** MAIL FROM; empty or null for the null return path, absent when it is not known. */
  envelopeFrom?: string | null;
  /** Of the attachment that is wanted. */
  partNumber?: string;
}

/** Bytes are of the raw mail, characters of decoded text. */
export const parseLimits = {
  mailBytes: 50 * 1024 * 1024,
  headerBytes: 256 * 1024,
  /** Folds count too: mailauth takes 50 s for 64,000 of them in one field, and 10 ms for these. */
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
  /** Read for new and quoted content, all pieces together; the worst HTML of it takes 0.5 s. */
  splitCharacters: 256 * 1024,
  parsingErrors: 100,
} as const;

/** The mail with one more parsing error. */
export function withFault(mail: ParsedMail, code: ParsingErrorCode, message: string): ParsedMail {
  return { ...mail, parsingErrors: [...mail.parsingErrors, { code, message }] };
}

/** The first value of a field, `name` in lower case, or null. */
export function findHeader(mail: ParsedMail, name: string): string | null {
  return mail.headers.find((field) => field.name.toLowerCase() === name)?.value ?? null;
}
