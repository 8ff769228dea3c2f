// Reads CSS without building a tree: finds the addresses that the CSS would load, and bounds the
// cost of inlining before css-inline reads it. css-inline is native code that no deadline can end.
// Pure and linear.

/** Limits of a style sheet. */
export const cssLimits = {
  brandBytes: 100 * 1024,
  /** Most open brackets of all kinds: css-inline reads nested brackets by recursion. */
  nesting: 16,
  rules: 2000,
  /** Most parts of all selectors: `.a > b, c` has three. */
  selectors: 8000,
  declarations: 8000,
} as const;

/** Counts of a style sheet that decide the cost of inlining. */
export interface CssFacts {
  rules: number;
  selectors: number;
  declarations: number;
  properties: number;
  characters: number;
}

/** An error in CSS at the offset `at`. */
export class CssFault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

interface CssRules {
  /** Whether addresses must be `https:`, or images in `data:`. */
  safeUrls: boolean;
}

const escapeSequence = /\\(?:([0-9a-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(?:\r\n|[\n\r\f])|([\s\S]))/gi;

/** Replaces the escapes of CSS: `\75rl` is `url`. */
function unescapeCss(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(escapeSequence, (_, hex?: string, plain = '') => {
    if (hex === undefined) return plain;
    const code = Number.parseInt(hex, 16);
    return code === 0 || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
  });
}

/** Functions whose strings are addresses. */
const loading = /^(?:url|src|image|(?:-webkit-)?(?:image-set|cross-fade))$/;
const safeUrl = /^(?:https:\/\/|data:image\/)/i;
const word =
  /(?:[\w-]|[^\0-\x7f]|\\(?:(?:[0-9a-f]{6}|[0-9a-f]{1,5}(?![0-9a-f]))(?:\r\n|[ \t\r\n\f])?|[^\r\n\f0-9a-f]))+/iy;
const space = /[ \t\r\n\f]+/y;
const doubleQuoted = /"(?:[^"\\\r\n\f]|\\(?:\r\n|[\s\S]))*"/y;
const singleQuoted = /'(?:[^'\\\r\n\f]|\\(?:\r\n|[\s\S]))*'/y;
const bareUrl = /(?:[^"'()\\\s]|\\[^\r\n\f])*/y;
const sign = /[!#$%&*+,./:;<=>?^`|~]/;
const isSpace = (character: string) => ' \t\r\n\f'.includes(character);
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

interface Bracket {
  at: number;
  close: string;
  /** Whether strings in the function are addresses. */
  loads: boolean;
}

class CssReader {
  readonly #css: string;
  readonly #rules: CssRules;
  readonly #open: Bracket[] = [];
  readonly #properties = new Set<string>();
  readonly #facts = { rules: 0, selectors: 0, declarations: 0 };
  #at = 0;
  /** Parts of the selectors in the current prelude or declaration. */
  #parts = 0;
  #property = '';
  #isAfterSpace = true;

  constructor(css: string, rules: CssRules) {
    this.#css = css;
    this.#rules = rules;
  }

  read(): CssFacts {
    const end = /<\/style|<!--/i.exec(this.#css);
    if (end) throw new CssFault(end.index, `${end[0]} is not CSS`);
    while (this.#at < this.#css.length) this.#step();
    const unclosed = this.#open.at(-1);
    if (unclosed) throw new CssFault(unclosed.at, `${unclosed.close} is missing`);
    return {
      ...this.#facts,
      properties: this.#properties.size,
      characters: this.#css.length,
    };
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#css);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #step(): void {
    const css = this.#css;
    const start = this.#at;
    const character = css[start] ?? '';
    if (isSpace(character)) {
      this.#match(space);
      this.#isAfterSpace = true;
    } else if (character in closing) this.#opened(start, character, '');
    else if (character === ')' || character === ']' || character === '}') {
      this.#closed(start, character);
    } else if (character === '"' || character === "'") this.#string(start, character);
    else if (character === '@') this.#atRule(start);
    else if (character === '/' && css[start + 1] === '*') {
      const end = css.indexOf('*/', start + 2);
      if (end < 0) throw new CssFault(start, 'a comment is not closed');
      this.#at = end + 2;
    } else if (!sign.test(character) && this.#match(word)) {
      this.#word(start, css.slice(start, this.#at));
    } else this.#sign(character);
  }

  #sign(character: string): void {
    this.#at += 1;
    if (character === ';' && this.#isBetween()) this.#endDeclaration();
    else if (',>+~'.includes(character)) this.#isAfterSpace = true;
    else this.#part();
  }

  /** Counts a part of a selector at the beginning of the part. */
  #part(): void {
    if (this.#isAfterSpace) this.#parts += 1;
    this.#isAfterSpace = false;
  }

  #string(start: number, quote: string): void {
    const found = this.#match(quote === '"' ? doubleQuoted : singleQuoted);
    if (!found) throw new CssFault(start, 'a string is not closed');
    if (this.#open.at(-1)?.loads) {
      this.#url(start, found[0].slice(1, -1));
    }
    this.#part();
  }

  #url(at: number, address: string): void {
    if (this.#rules.safeUrls && !safeUrl.test(unescapeCss(address).trim())) {
      throw new CssFault(at, 'an address in CSS begins with https:// or data:image/');
    }
  }

  #atRule(start: number): void {
    this.#at += 1;
    const name = this.#match(word)?.[0] ?? '';
    if (unescapeCss(name).toLowerCase() === 'import') {
      throw new CssFault(start, '@import is not possible: put its rules here');
    }
    this.#part();
  }

  #word(start: number, text: string): void {
    this.#part();
    if (this.#property === '') this.#property = text;
    if (this.#css[this.#at] !== '(') return;
    const name = unescapeCss(text).toLowerCase();
    this.#opened(this.#at, '(', name);
    if (name !== 'url') return;
    this.#urlFunction(start);
  }

  /**
   * Reads `url(` up to the closing bracket, or to the string inside. Matches each part in a
   * separate step: a single pattern would take quadratic time.
   */
  #urlFunction(start: number): void {
    this.#match(space);
    const quote = this.#css[this.#at];
    if (quote === '"' || quote === "'") return;
    const address = this.#match(bareUrl)?.[0] ?? '';
    this.#match(space);
    if (this.#css[this.#at] !== ')') throw new CssFault(start, 'url() needs quotes here');
    this.#at += 1;
    this.#open.pop();
    this.#url(start, address);
  }

  #opened(start: number, bracket: string, name: string): void {
    this.#at = start + 1;
    if (this.#open.length >= cssLimits.nesting) {
      throw new CssFault(start, `brackets are nested more than ${cssLimits.nesting} deep`);
    }
    if (bracket === '{') this.#beginRule(start);
    else this.#part();
    const loads = loading.test(name) || this.#open.at(-1)?.loads === true;
    this.#open.push({ at: start, close: closing[bracket] ?? '', loads });
    this.#isAfterSpace = true;
  }

  #beginRule(start: number): void {
    const facts = this.#facts;
    facts.rules += 1;
    facts.selectors += Math.max(1, this.#parts);
    if (facts.rules > cssLimits.rules) {
      throw new CssFault(start, `there are more than ${cssLimits.rules} rules`);
    }
    if (facts.selectors > cssLimits.selectors) {
      throw new CssFault(start, `the selectors have more than ${cssLimits.selectors} parts`);
    }
    this.#parts = 0;
    this.#property = '';
  }

  #closed(start: number, bracket: string): void {
    this.#at += 1;
    if (this.#open.pop()?.close !== bracket) throw new CssFault(start, `${bracket} closes nothing`);
    if (bracket === '}') this.#endDeclaration();
    else this.#isAfterSpace = false;
  }

  /** Tells whether the open brackets are only brackets of rules. */
  #isBetween(): boolean {
    return this.#open.every(({ close }) => close === '}');
  }

  #endDeclaration(): void {
    if (this.#property !== '') {
      this.#facts.declarations += 1;
      this.#properties.add(this.#property.toLowerCase());
      if (this.#facts.declarations > cssLimits.declarations) {
        throw new CssFault(this.#at, `there are more than ${cssLimits.declarations} declarations`);
      }
    }
    this.#property = '';
    this.#parts = 0;
    this.#isAfterSpace = true;
  }
}

/**
 * Reads a style sheet, or the declarations of a `style` attribute. @throws CssFault at the first
 * mistake, at `@import`, and above a limit
 */
export function readCss(css: string, rules: CssRules = { safeUrls: false }): CssFacts {
  return new CssReader(css, rules).read();
}

/** Returns the line of an offset, from 1. */
function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
  }
  return line;
}

/** Returns the problem with the CSS of a brand, with the line; null for valid CSS. */
export function checkBrandCss(css: string): string | null {
  if (Buffer.byteLength(css) > cssLimits.brandBytes) {
    return `CSS has at most ${cssLimits.brandBytes / 1024} KB`;
  }
  if (!css.isWellFormed() || css.includes('\0')) return 'CSS is valid Unicode without NUL';
  // Inlined CSS becomes a part of templates, and Liquid in it would run in each template.
  const liquid = /\{[{%]/.exec(css);
  if (liquid) return `line ${lineAt(css, liquid.index)}: the CSS of a brand has no Liquid`;
  try {
    readCss(css, { safeUrls: true });
    return null;
  } catch (fault) {
    if (fault instanceof CssFault) return `line ${lineAt(css, fault.at)}: ${fault.message}`;
    throw fault;
  }
}
