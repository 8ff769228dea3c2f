// The header fields that a sender may set (fields of the protocol itself are refused), and the encoding of
// values: folding (RFC 5322 2.2.3), encoded words (RFC 2047), display names, and grammars that check outside
// input. Every result is ASCII unless an address is internationalized (RFC 6532).
import { isHeaderSafe } from '../../platform/net/address.ts';

/** Field by which we recognize our own mail in reports (src/outbound/queue/return-path.ts). */
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

/** Visible ASCII without colon (RFC 5322 3.6.8); at most 76 characters keep the line foldable. */
const fieldName = /^[!-9;-~]{1,76}$/;

/** Returns the reason why the name cannot be used, or null. */
export function isRefusedHeader(name: string): string | null {
  if (!fieldName.test(name)) return 'is not a valid header name';
  const lower = name.toLowerCase();
  if (owned.has(lower) || lower.startsWith('resent-')) return 'is set by the service';
  return null;
}

/** One header field; `value` may contain folds (CRLF and a space), never a trailing CRLF. */
export interface HeaderField {
  name: string;
  value: string;
}

const lineLength = 76;
/** Limit that lets an encoded word fit a line of 76 after `Reply-To: `; RFC 2047 2 allows words of 75. */
const encodedWordLength = 64;
const payloadLength = encodedWordLength - '=?utf-8?Q??='.length;
/** Longest text without a place to fold: with its field name it stays below 998 octets. */
const longestWord = 900;

const printable = /^[\x20-\x7e]*$/;

const upperHex = Array.from(
  { length: 256 },
  (_, byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
);
/** Q encoding as permitted in a phrase (RFC 2047 5, rule 3): letters, digits and `!*+-/` stay. */
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

/** Encodes a text as encoded words of at most 64 characters, without splitting a character. */
function encodedWords(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  let qLength = 0;
  for (const byte of bytes) qLength += qText[byte]?.length ?? 0;
  return qLength > (bytes.length * 4) / 3 ? bWords(bytes) : qWords(bytes);
}

/**
 * Joins tokens with single spaces and folds before any that would pass column 76. The first token stays on
 * the line of the name, unless it is an encoded word: their lines have a hard limit.
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

/** Folds printable ASCII at its own spaces; unfolding restores all of them. */
function foldText(name: string, text: string): string {
  if (name.length + 2 + text.length <= lineLength) return text;
  const [first = '', ...words] = text.split(' ');
  let folded = first;
  let column = name.length + 2 + first.length;
  for (const word of words) {
    // A fold before an empty word would leave a line of white space only (RFC 5322 3.2.2).
    const fold = word.trim() !== '' && column + 1 + word.length > lineLength;
    folded += fold ? `\r\n ${word}` : ` ${word}`;
    column = (fold ? 0 : column) + 1 + word.length;
  }
  return folded;
}

/**
 * Tells whether a word exceeds `longestWord`. Splits the text, because a regular expression with a count
 * starts again at each character: 45,000 steps for a link of 300 characters.
 */
function hasLongWord(text: string): boolean {
  if (text.length <= longestWord) return false;
  return text.split(' ').some((word) => word.length > longestWord);
}

/** Encodes the value of `Subject`, unless it is plain text that cannot be mistaken for an encoded word. */
export function encodeSubject(subject: string): string {
  const text = subject.trim();
  const isPlain = printable.test(text) && !text.includes('=?') && !hasLongWord(text);
  return isPlain ? foldText('Subject', text) : foldTokens('Subject', encodedWords(text));
}

/**
 * Encodes the value of a header named by the caller. Keeps it unchanged if possible, since it may be
 * structured.
 */
export function encodeExtraHeader(name: string, value: string): string {
  const text = value.trim();
  const isPlain = /^[\t\x20-\x7e]*$/.test(text) && !hasLongWord(text);
  return isPlain ? foldText(name, text) : foldTokens(name, encodedWords(text));
}

/** Encodes a display name (RFC 5322 phrase) as tokens: atoms, one quoted string, or encoded words. */
export function encodeDisplayName(name: string): string[] {
  const text = name.trim();
  if (text.length > 60 || !printable.test(text) || text.includes('=?')) return encodedWords(text);
  if (/^[A-Za-z0-9]+(?: [A-Za-z0-9]+)*$/.test(text)) return [text];
  return text === '' ? [] : [`"${text.replace(/["\\]/g, '\\$&')}"`];
}

/** Returns true for a message identifier in angle brackets; some in circulation lack the `@`. */
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
