// Finds the end of a web address in plain text (RFC 3986 C): before punctuation of the sentence,
// and before a closing bracket that the sentence opened.

/** Longest address in angle brackets, line ends included. */
const longestFolded = 4_000;
/**
 * Matches a web address in text. It ends at spaces, quotation marks, and Chinese and Japanese
 * punctuation, which addresses contain only in escaped form.
 */
const address =
  /https?:\/\/[^\s<>"`|\\^\u2018-\u201f\u2026\u2039\u203a\u00ab\u00bb\u3000-\u3003\u3008-\u301f\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b\uff5d\uff5e\uff61-\uff64]+/iy;
const hasHost = /^https?:\/\/[^/?#.,;:!)\]]/i;
const sentenceEnd = /[.,;:!?'*]/;
const openerOf = new Map(
  Object.entries({ ')': '(', ']': '[', '}': '{', "'": "'", '*': '*', _: '_' }),
);
const brackets = ')]}';

/** Returns an address in angle brackets, without line ends; null if no such address begins here. */
function foldedAddress(text: string, start: number): { url: string; end: number } | null {
  if (text[start - 1] !== '<' && !/<url:\s?$/i.test(text.slice(Math.max(0, start - 6), start))) {
    return null;
  }
  const end = text.slice(start, start + longestFolded).search(/[<>]/);
  if (end < 0 || text[start + end] !== '>') return null;
  const lines = text.slice(start, start + end).split('\n');
  const url = lines.map((line) => line.trim()).join('');
  return /[\s"]/.test(url) ? null : { url, end: start + end };
}

/** Returns the length of the address up to the mark that closes `before`, such as `)` for `(`. */
function lengthWithin(url: string, before: string): number {
  let open = 0;
  for (let at = 0; at < url.length; at += 1) {
    const character = url[at] ?? '';
    if (openerOf.get(character) === before) {
      if (open === 0) return at;
      open -= 1;
    } else if (character === before) open += 1;
  }
  return url.length;
}

/**
 * Returns the length of the address without punctuation at the end, and without closing brackets
 * that the address did not open.
 */
function lengthWithoutEnd(url: string): number {
  const excess = new Map([...brackets].map((one) => [one, 0]));
  for (const character of url) {
    for (const closer of brackets) {
      const change = Number(character === closer) - Number(character === openerOf.get(closer));
      if (change !== 0) excess.set(closer, (excess.get(closer) ?? 0) + change);
    }
  }
  let length = url.length;
  for (; length > 0; length -= 1) {
    const last = url[length - 1] ?? '';
    const left = excess.get(last) ?? 0;
    if (left > 0) excess.set(last, left - 1);
    else if (!sentenceEnd.test(last)) break;
  }
  return length;
}

/**
 * Returns the address that starts at `start` with `http` (null without a host), and the offset
 * after it.
 */
export function addressAt(text: string, start: number): { url: string | null; end: number } {
  const folded = foldedAddress(text, start);
  if (folded) return { ...folded, url: hasHost.test(folded.url) ? folded.url : null };
  address.lastIndex = start;
  const whole = address.exec(text)?.[0] ?? '';
  const before = text[start - 1] ?? '';
  const within = whole.slice(0, lengthWithin(whole, before));
  const url = within.slice(0, lengthWithoutEnd(within));
  const end = start + Math.max(url.length, 'http://'.length);
  return { url: hasHost.test(url) ? url : null, end };
}
