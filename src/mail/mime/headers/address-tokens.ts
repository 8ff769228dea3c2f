// Splits an unfolded address-list value into tokens (RFC 5322 3.2 and 3.4), in linear time. A
// quote, a parenthesis or an angle bracket without a partner is plain text, so it cannot hide the
// rest of the value.

/**
 * Token of a value. `quoted` and `comment` come without delimiters, unescaped; `angle` without
 * brackets, unchanged. `mark` is a separator or a colon, `text` all remaining characters.
 */
export interface AddressToken {
  kind: 'text' | 'quoted' | 'comment' | 'angle' | 'mark';
  text: string;
}

/**
 * An encoded word. Commas and colons in it separate nothing, although RFC 2047 5 forbids them
 * there.
 */
const encodedWord = /=\?[\w*-]{1,60}\?[bq]\?[^?<>\r\n]{0,2000}\?=/iy;
/** A domain literal after the at sign, which may contain colons (RFC 5321 4.1.3). */
const domainLiteral = /@\s{0,100}\[[^\][\\<>"()]{0,255}\]/y;

/** Most characters before a closing quote in which an address is searched. */
const longestAddress = 600;

const unquote = (text: string) => text.replace(/\\(.)/gs, '$1');

/**
 * Maps the position of each opening parenthesis to the position of the closing parenthesis. Escaped
 * parentheses do not count.
 */
function matchParentheses(value: string): Map<number, number> {
  const partners = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at];
    if (character === '\\') at += 1;
    else if (character === '(') open.push(at);
    else if (character === ')') {
      const start = open.pop();
      if (start !== undefined) partners.set(start, at);
    }
  }
  return partners;
}

/** Finds the closing delimiters of comments, quoted strings and angle addresses in a value. */
class Delimiters {
  readonly #value: string;
  readonly #partners: Map<number, number>;
  /** Offset from which no closing quote exists. */
  #lastQuote = Number.POSITIVE_INFINITY;

  constructor(value: string) {
    this.#value = value;
    this.#partners = value.includes('(') ? matchParentheses(value) : new Map();
  }

  /** Returns the end of the comment that opens at `start`, or null. */
  endOfComment(start: number): number | null {
    return this.#partners.get(start) ?? null;
  }

  /** Returns the end of the quoted string that opens at `start`, or null. */
  endOfQuote(start: number): number | null {
    if (start >= this.#lastQuote) return null;
    const value = this.#value;
    for (let at = start + 1; at < value.length; at += 1) {
      if (value[at] === '\\') at += 1;
      else if (value[at] === '"') return this.#isTorn(start, at) ? null : at;
    }
    this.#lastQuote = start;
    return null;
  }

  /**
   * Tells whether the closing quote is missing: the string ends with a whole address and a
   * separator, and the quote at `end` opens the next name.
   */
  #isTorn(start: number, end: number): boolean {
    if (!/[^\s,;:<>()"]/.test(this.#value[end + 1] ?? ' ')) return false;
    const inner = this.#value.slice(Math.max(start + 1, end - longestAddress), end).trimEnd();
    if (!inner.endsWith(',') && !inner.endsWith(';')) return false;
    const address = inner.slice(0, -1).trimEnd();
    return address.endsWith('>') && address.lastIndexOf('@') > address.lastIndexOf('<');
  }

  /**
   * Returns the end of the angle address that opens at `start`: the closing bracket, else the next
   * separator, else the end of the value. Null if a further bracket opens before the end.
   */
  endOfAngle(start: number): number | null {
    const value = this.#value;
    let separator: number | null = null;
    for (let at = start + 1; at < value.length; at += 1) {
      const character = value[at];
      if (character === '>') return at;
      if (character === '<') return null;
      if (character === '"') at = this.endOfQuote(at) ?? at;
      else if (character === '(') at = this.endOfComment(at) ?? at;
      else if (character === ',' || character === ';') separator ??= at;
    }
    return separator ?? value.length;
  }
}

function matchAt(pattern: RegExp, value: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(value)?.[0] ?? null;
}

/** Returns the encoded word or the domain literal at `at`; otherwise a single character. */
function textAt(value: string, at: number): string {
  const character = value.charAt(at);
  if (character === '=') return matchAt(encodedWord, value, at) ?? character;
  if (character === '@') return matchAt(domainLiteral, value, at) ?? character;
  return character;
}

/** Returns the delimited token that opens at `at`, with the end; null if it is unclosed. */
function delimitedAt(
  value: string,
  at: number,
  delimiters: Delimiters,
): { token: AddressToken; end: number } | null {
  const character = value[at];
  const [kind, end] =
    character === '"'
      ? (['quoted', delimiters.endOfQuote(at)] as const)
      : character === '('
        ? (['comment', delimiters.endOfComment(at)] as const)
        : (['angle', delimiters.endOfAngle(at)] as const);
  if (end === null) return null;
  const inner = value.slice(at + 1, end);
  // An unclosed angle bracket ends before the separator, which becomes a token.
  const isOpen = kind === 'angle' && value[end] !== '>';
  const text = kind === 'angle' ? inner : unquote(inner);
  return { token: { kind, text }, end: isOpen ? end - 1 : end };
}

/** Yields the tokens of an unfolded value, in order. Never throws. */
export function* addressTokens(value: string): Generator<AddressToken> {
  const delimiters = new Delimiters(value);
  let text = '';
  for (let at = 0; at < value.length; at += 1) {
    const character = value.charAt(at);
    const isMark = character === ',' || character === ';' || character === ':';
    const delimited = '"(<'.includes(character) ? delimitedAt(value, at, delimiters) : null;
    if (!isMark && !delimited) {
      const taken = textAt(value, at);
      at += taken.length - 1;
      // An unpaired quote or angle bracket is not a part of a name.
      if (!'"<>'.includes(character)) text += taken;
      continue;
    }
    if (text !== '') yield { kind: 'text', text };
    text = '';
    yield delimited?.token ?? { kind: 'mark', text: character };
    if (delimited) at = delimited.end;
  }
  if (text !== '') yield { kind: 'text', text };
}
