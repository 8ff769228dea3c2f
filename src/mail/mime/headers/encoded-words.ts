// Encoded words (RFC 2047) and folding (RFC 5322 2.2.3) of header fields. header-encoding.ts
// decides which texts are encoded.

const lineLength = 76;
/**
 * Limit that keeps a line with an encoded word after `Reply-To: ` within 76 characters; RFC 2047 2
 * allows words of 75.
 */
const encodedWordLength = 64;
const payloadLength = encodedWordLength - '=?utf-8?Q??='.length;
/** Longest word that cannot be folded: with the name of the field it stays below 998 octets. */
export const longestWord = 900;

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
export function encodedWords(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  let qLength = 0;
  for (const byte of bytes) qLength += qText[byte]?.length ?? 0;
  return qLength > (bytes.length * 4) / 3 ? bWords(bytes) : qWords(bytes);
}

/** Longest line in octets, without the CRLF (RFC 5322 2.1.1). */
export const longestLine = 998;

/**
 * Joins tokens with single spaces, and folds before a token that would pass column 76. The first
 * token stays on the line of the name, unless an encoded word would pass column 76, or a different
 * token column 998.
 */
export function foldTokens(name: string, tokens: readonly string[]): string {
  let text = '';
  let column = name.length + 1;
  for (const token of tokens) {
    const isFirst = text === '';
    const end = column + 1 + token.length;
    if (end > lineLength && (!isFirst || /^\(?=\?/.test(token) || end > longestLine)) {
      text += `\r\n ${token}`;
      column = 1 + token.length;
    } else {
      text += isFirst ? token : ` ${token}`;
      column += 1 + token.length;
    }
  }
  return text;
}

/** Folds printable ASCII at existing spaces, so that unfolding restores the text. */
export function foldText(name: string, text: string): string {
  if (name.length + 2 + text.length <= lineLength) return text;
  const [first = '', ...words] = text.split(' ');
  let folded = first;
  let column = name.length + 2 + first.length;
  for (const word of words) {
    // A fold before an empty word would make a line of white space only (RFC 5322 3.2.2).
    const fold = word.trim() !== '' && column + 1 + word.length > lineLength;
    folded += fold ? `\r\n ${word}` : ` ${word}`;
    column = (fold ? 0 : column) + 1 + word.length;
  }
  return folded;
}

/**
 * Folds printable ASCII that has words of more than 900 characters; null if a line would be too
 * long.
 */
export function foldLongWords(name: string, text: string): string | null {
  const words = text.split(' ');
  return words.every(({ length }) => length < longestLine) ? foldTokens(name, words) : null;
}

/**
 * Tells whether a word exceeds `longestWord`. Splits the text: a regular expression with a count
 * would start again at each character, 45,000 steps for a link of 300 characters.
 */
export function hasLongWord(text: string): boolean {
  if (text.length <= longestWord) return false;
  return text.split(' ').some((word) => word.length > longestWord);
}
