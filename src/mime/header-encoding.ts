// Which header fields a sender may set (those of the protocol itself are refused), and how values become
// header text: folding (RFC 5322 2.2.3), encoded words (RFC 2047), display names and the grammars that
// guard what comes from outside. Knows no message; every result is ASCII unless an address is
// internationalized (RFC 6532).
import { isHeaderSafe } from '../net/address.ts';

/** The field that shows reports on our mail for what they are (src/queue/return-path.ts). */
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

/** Field names are visible ASCII without colon (RFC 5322 3.6.8); 76 keeps the line foldable. */
const fieldName = /^[!-9;-~]{1,76}$/;

/** Why the name cannot be used, or null. */
export function isRefusedHeader(name: string): string | null {
  if (!fieldName.test(name)) return 'is not a valid header name';
  const lower = name.toLowerCase();
  if (owned.has(lower) || lower.startsWith('resent-')) return 'is set by the service';
  return null;
}

/** One header field; `value` may hold folds (CRLF and a space), never a trailing CRLF. */
export interface HeaderField {
  name: string;
  value: string;
}

const lineLength = 76;
/** So that `Reply-To: ` and one encoded word fit a line of 76 (RFC 2047 2 allows 75 by itself). */
const encodedWordLength = 64;
const payloadLength = encodedWordLength - '=?utf-8?Q??='.length;
/** The longest text that no fold may break: with its field name it stays below 998 octets. */
const longestWord = 900;

const printable = /^[\x20-\x7e]*$/;

const upperHex = Array.from(
  { length: 256 },
  (_, byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);
/** Q encoding as a phrase allows it (RFC 2047 5, rule 3): letters, digits and `!*+-/`. */
const qText = upperHex.map((code, byte) => {
  const character = String.fromCharCode(byte);
  if (character === ' ') return '_';
  return /[A-Za-z0-9!*+\-/]/.test(character) ? character : code;
});

function utf8Width(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

function qWords(bytes: Buffer): string[] {
  const words: string[] = [];
  let word = '';
  for (let at = 0; at < bytes.length; ) {
    let character = '';
    for (const end = at + utf8Width(bytes[at] ?? 0); at < end; at++) {
      character += qText[bytes[at] ?? 0];
    }
    if (word.length + character.length > payloadLength) {
      words.push(`=?utf-8?Q?${word}?=`);
      word = '';
    }
    word += character;
  }
  if (word !== '') words.push(`=?utf-8?Q?${word}?=`);
  return words;
}

function bWords(bytes: Buffer): string[] {
  const words: string[] = [];
  const bytesPerWord = Math.floor(payloadLength / 4) * 3;
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + bytesPerWord, bytes.length);
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
    words.push(`=?utf-8?B?${bytes.toString('base64', at, end)}?=`);
    at = end;
  }
  return words;
}

/** A text as encoded words of at most 64 characters, none of which splits a character. */
function encodedWords(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  let qLength = 0;
  for (const byte of bytes) qLength += qText[byte]?.length ?? 0;
  return qLength > (bytes.length * 4) / 3 ? bWords(bytes) : qWords(bytes);
}

/**
 * Joins tokens with single spaces and folds before the ones that would pass column 76. A first
 * token stays on the line of the name, unless it is an encoded word: those have a hard limit.
 */
export function foldTokens(name: string, tokens: readonly string[]): string {
  let text = '';
  let column = name.length + 1;
  for (const token of tokens) {
    const isFirst = text === '';
    if (column + 1 + token.length > lineLength && (!isFirst || token.startsWith('=?'))) {
      text += `\r\n ${token}`;
      column = 1 + token.length;
    } else {
      text += isFirst ? token : ` ${token}`;
      column += 1 + token.length;
    }
  }
  return text;
}

/** Folds printable ASCII at its own spaces, all of which unfolding gives back. */
function foldText(name: string, text: string): string {
  if (name.length + 2 + text.length <= lineLength) return text;
  const [first = '', ...words] = text.split(' ');
  let folded = first;
  let column = name.length + 2 + first.length;
  for (const word of words) {
    // A fold before an empty word would leave a line of white space alone (RFC 5322 3.2.2).
    const fold = word.trim() !== '' && column + 1 + word.length > lineLength;
    folded += fold ? `\r\n ${word}` : ` ${word}`;
    column = (fold ? 0 : column) + 1 + word.length;
  }
  return folded;
}

/** Not by a pattern: one that counts begins anew at each character, 45,000 steps for a link of 300. */
function hasLongWord(text: string): boolean {
  if (text.length <= longestWord) return false;
  return text.split(' ').some((word) => word.length > longestWord);
}

/** The value of `Subject`: encoded where it is not plain, or would read as an encoded word. */
export function encodeSubject(subject: string): string {
  const text = subject.trim();
  const isPlain = printable.test(text) && !text.includes('=?') && !hasLongWord(text);
  return isPlain ? foldText('Subject', text) : foldTokens('Subject', encodedWords(text));
}

/** The value of a header that a caller named: as it is where it can be, it may be structured. */
export function encodeExtraHeader(name: string, value: string): string {
  const text = value.trim();
  const isPlain = /^[\t\x20-\x7e]*$/.test(text) && !hasLongWord(text);
  return isPlain ? foldText(name, text) : foldTokens(name, encodedWords(text));
}

/** A display name (RFC 5322 phrase) as tokens: atoms, one quoted string, or encoded words. */
export function encodeDisplayName(name: string): string[] {
  const text = name.trim();
  if (text.length > 60 || !printable.test(text) || text.includes('=?')) return encodedWords(text);
  if (/^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/.test(text)) return [text];
  return text === '' ? [] : [`"${text.replace(/["\\]/g, '\\$&')}"`];
}

/** Whether this is a message identifier in angle brackets; some in the wild lack the `@`. */
export function isMessageId(text: string): boolean {
  return text.length <= longestWord && /^<[!-;=?-~]+>$/.test(text);
}

const token = "[!#$%&'*+\\-.^_`{|}~0-9A-Za-z]+";
const mediaType = new RegExp(
  `^${token}/${token}(?: ?; ?${token}=(?:${token}|"[\\x20!#-\\[\\]-~]*"))*$`,
);

/** Whether this is a media type with optional parameters (RFC 2045 5.1), at most 255 characters. */
export function isMediaType(text: string): boolean {
  return text.length <= 255 && mediaType.test(text);
}

/** Whether this may be a Content-ID, given without angle brackets. */
export function isContentId(text: string): boolean {
  return text.length <= 255 && /^[!-;=?-~]+$/.test(text);
}

/** Whether an attachment may have this name: 1 to 255 UTF-16 units, header-safe. */
export function isFilename(text: string): boolean {
  return text.length > 0 && text.length <= 255 && isHeaderSafe(text);
}
