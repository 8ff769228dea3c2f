// The header fields that a sender may set (fields of the protocol itself are refused), and the
// encoding of values: folding (RFC 5322 2.2.3), encoded words (RFC 2047), display names, and checks
// of values from callers. Every result is ASCII unless an address is internationalized (RFC 6532).
import { isHeaderSafe } from '../../../platform/net/address.ts';
import {
  encodedWords,
  foldLongWords,
  foldText,
  foldTokens,
  hasLongWord,
  longestWord,
} from './encoded-words.ts';
import { encodeStructured, grammarOf, isUnstructured } from './structured-fields.ts';

/**
 * Field by which reports on our own mail are recognized
 * (src/outbound/queue/attempting/return-path.ts).
 */
export const copyTokenField = 'X-Service-Token';

const owned = new Set([
  copyTokenField.toLowerCase(),
  'arc-authentication-results',
  'arc-message-signature',
  'arc-seal',
  'authentication-results',
  'bcc',
  'cc',
  'content-disposition',
  'content-id',
  'content-length',
  'content-transfer-encoding',
  'content-type',
  'date',
  'delivered-to',
  'dkim-signature',
  'domainkey-signature',
  'from',
  'in-reply-to',
  'importance',
  'message-id',
  'mime-version',
  'original-recipient',
  'priority',
  'received',
  'received-spf',
  'references',
  'reply-to',
  'return-path',
  'sender',
  'status',
  'subject',
  'to',
  'x-priority',
]);

/** Visible ASCII without colon (RFC 5322 3.6.8). At most 76 characters leave space to fold. */
const fieldName = /^[!-9;-~]{1,76}$/;

/** Returns the reason why the name cannot be used, or null. */
export function isRefusedHeader(name: string): string | null {
  if (!fieldName.test(name)) return 'is not a valid header name';
  const lower = name.toLowerCase();
  if (owned.has(lower) || lower.startsWith('resent-')) return 'is set by the service';
  return null;
}

/** A header field; `value` may contain folds (CRLF and a space), never a trailing CRLF. */
export interface HeaderField {
  name: string;
  value: string;
}

const printable = /^[\x20-\x7e]*$/;

/**
 * Encodes the value of `Subject`. Only folds printable ASCII, unless it has `=?`, as in an encoded
 * word, or a word of more than 900 characters.
 */
export function encodeSubject(subject: string): string {
  const text = subject.trim();
  const isPlain = printable.test(text) && !text.includes('=?') && !hasLongWord(text);
  return isPlain ? foldText('Subject', text) : foldTokens('Subject', encodedWords(text));
}

/**
 * Encodes the value of a header named by the caller. Only folds ASCII, unless free text has a word
 * of more than 900 characters. Further characters become encoded words; in a structured value only
 * where the field allows them (structured-fields.ts). Null if the value cannot be written:
 * `unwritable` has the reason.
 */
export function encodeExtraHeader(name: string, value: string): string | null {
  const text = value.trim();
  const isAscii = /^[\t\x20-\x7e]*$/.test(text);
  if (isAscii && !hasLongWord(text)) return foldText(name, text);
  const grammar = grammarOf(name);
  if (isAscii && grammar !== 'words') return foldLongWords(name, text);
  if (grammar !== 'words') return encodeStructured(name, grammar, text);
  const isMixed = !isAscii && !isUnstructured(name) && angleAddress.test(text);
  const mixed = isMixed ? encodeStructured(name, 'mixed', text) : null;
  return mixed ?? foldTokens(name, encodedWords(text));
}

/** Angle brackets that contain a URI or an address. */
const angleAddress = /<(?:[a-z][a-z0-9+.-]*:|[^\s<>@]+@)[^\s<>]+>/i;

/** Text of the error for a value for which `encodeExtraHeader` returns null. */
export const unwritable =
  'is a structured field: write URIs percent-encoded, addresses and tokens in ASCII, other words as a ' +
  'name or a comment (RFC 2047 5), and no word above 997 characters';

/**
 * Encodes a display name (RFC 5322 phrase) as tokens: atoms, a quoted string, or encoded words.
 */
export function encodeDisplayName(name: string): string[] {
  const text = name.trim();
  if (text.length > 60 || !printable.test(text) || text.includes('=?')) return encodedWords(text);
  if (/^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/.test(text)) return [text];
  return text === '' ? [] : [`"${text.replace(/["\\]/g, '\\$&')}"`];
}

/** Returns true for a message id in angle brackets. Some ids in received mail lack the `@`. */
export function isMessageId(text: string): boolean {
  return text.length <= longestWord && /^<[!-;=?-~]+>$/.test(text);
}

/** Returns true for a valid Content-ID, given without angle brackets. */
export function isContentId(text: string): boolean {
  return text.length <= 255 && /^[!-;=?-~]+$/.test(text);
}

/** Returns true for a valid attachment name: 1 to 255 UTF-16 units, header-safe. */
export function isFilename(text: string): boolean {
  return text.length > 0 && text.length <= 255 && isHeaderSafe(text);
}
