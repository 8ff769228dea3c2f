// Replaces Liquid by words that survive the readers of MJML, HTML and CSS, and restores it byte for
// byte. A word has only letters and digits, so it can be text, the name or value of an attribute,
// or a value in CSS.
import { type TagToken, Tokenizer, TokenKind, type TopLevelToken } from 'liquidjs';

/** Role of a tag in a block: `if` begins the block, `else` is a part, `endif` ends the block. */
type Role = 'begin' | 'part' | 'end';

/** A piece of text that a word replaces. */
export interface Hidden {
  word: string;
  /** `output` prints a value, `tag` is a tag, `text` is anything else. */
  kind: 'output' | 'tag' | 'text';
  text: string;
  path: string;
  line: number;
  role: Role | null;
  /** Name of the partial in a `render` tag; null if the piece is not a `render` tag. */
  partial: string | null;
}

/** A text with words in place of Liquid, and the line in the file for each offset. */
export interface SourceText {
  path: string;
  text: string;
  /** Returns the line in the file for an offset in `text`. */
  lineAt(offset: number): number;
}

const blocks = ['if', 'unless', 'for', 'case', 'capture'];
const parts = ['else', 'elsif', 'when'];

function roleOf(name: string): Role | null {
  if (blocks.includes(name)) return 'begin';
  if (parts.includes(name)) return 'part';
  return name.startsWith('end') && blocks.includes(name.slice(3)) ? 'end' : null;
}

const renderTag = /^\{%-?\s*render\s+(?:"([^"\\{]*)"|'([^'\\{]*)')/;

/** Tells whether a piece of Liquid writes text, such as `{{ value }}`. */
export function prints({ kind, text }: Hidden): boolean {
  return (
    kind === 'output' || (kind === 'tag' && /^\{%-?\s*(?:brand_footer|cycle|echo)\b/.test(text))
  );
}

export class Shields {
  readonly #prefix: string;
  readonly #hidden: Hidden[] = [];
  /** Matches each word. The first group is the number of the word. */
  readonly words: RegExp;

  /** Chooses a prefix that none of these texts contains. Each word begins with the prefix. */
  constructor(texts: readonly string[]) {
    let prefix = 'lq';
    while (texts.some((text) => text.toLowerCase().includes(prefix))) prefix += 'z';
    this.#prefix = prefix;
    this.words = new RegExp(`${prefix}(\\d+)x`, 'g');
  }

  /** Hides a text and returns the word for it. */
  hide(hidden: Omit<Hidden, 'word'>): string {
    const word = `${this.#prefix}${this.#hidden.length}x`;
    this.#hidden.push({ ...hidden, word });
    return word;
  }

  /** Hides a text other than Liquid, such as a comment or a style sheet. */
  hideText(text: string, path: string, line: number): string {
    return this.hide({ kind: 'text', text, path, line, role: null, partial: null });
  }

  has(text: string): boolean {
    return text.includes(this.#prefix);
  }

  /** Returns the hidden pieces of a text, in the order of the text. */
  in(text: string): Hidden[] {
    if (!this.has(text)) return [];
    return [...text.matchAll(this.words)].flatMap(
      ([, number]) => this.#hidden[Number(number)] ?? [],
    );
  }

  /** Returns the hidden piece if the text is exactly the word of a piece; else null. */
  only(text: string): Hidden | null {
    const [first, second] = this.in(text);
    return first && !second && first.word === text.trim() ? first : null;
  }

  all(): readonly Hidden[] {
    return this.#hidden;
  }

  /** Restores all hidden texts, including nested hidden texts. */
  restore(text: string): string {
    if (!this.has(text)) return text;
    return text.replace(this.words, (_, number) =>
      this.restore(this.#hidden[Number(number)]?.text ?? ''),
    );
  }
}

/**
 * Yields each token with the end offset; `raw` and `comment` extend over their content and end tag.
 */
function* pieces(tokens: readonly TopLevelToken[]): Generator<[TopLevelToken, end: number]> {
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (!token) continue;
    const name = token.kind === TokenKind.Tag ? (token as TagToken).name : '';
    let end = token.end;
    if (name === 'raw' || name === 'comment') {
      while (at + 1 < tokens.length) {
        at += 1;
        end = tokens[at]?.end ?? end;
        const other = tokens[at];
        if (other?.kind === TokenKind.Tag && (other as TagToken).name === `end${name}`) break;
      }
    }
    yield [token, end];
  }
}

/**
 * Hides the Liquid of a text that `parseLiquid` accepted. The content of `raw` and `comment` is
 * hidden too.
 */
export function hideLiquid(shields: Shields, source: string, path: string): SourceText {
  const marks: { at: number; line: number }[] = [{ at: 0, line: 1 }];
  let text = '';
  let line = 1;
  for (const [token, end] of pieces(new Tokenizer(source).readTopLevelTokens())) {
    const own = source.slice(token.begin, end);
    if (token.kind === TokenKind.HTML) text += own;
    else {
      const isTag = token.kind === TokenKind.Tag;
      const name = isTag ? (token as TagToken).name : '';
      const opaque = name === 'raw' || name === 'comment';
      const [, double, single] = (isTag && renderTag.exec(own)) || [];
      text += shields.hide({
        kind: opaque ? 'text' : isTag ? 'tag' : 'output',
        text: own,
        path,
        line,
        role: roleOf(name),
        partial: double ?? single ?? null,
      });
    }
    line += own.split('\n').length - 1;
    if (token.kind !== TokenKind.HTML) marks.push({ at: text.length, line });
  }
  return { path, text, lineAt: lineReader(text, marks) };
}

/** Returns the index of the last entry of a sorted list up to `value`; -1 if all are larger. */
function lastUpTo(count: number, value: number, entry: (index: number) => number): number {
  let low = -1;
  let high = count - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (entry(middle) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function lineReader(text: string, marks: readonly { at: number; line: number }[]) {
  let breaks: number[] | null = null;
  return (offset: number): number => {
    breaks ??= [...text.matchAll(/\n/g)].map(({ index }) => index);
    const found = breaks;
    const breaksBefore = (at: number) =>
      lastUpTo(found.length, at - 1, (index) => found[index] ?? 0);
    const mark = marks[lastUpTo(marks.length, offset, (index) => marks[index]?.at ?? 0)];
    return (mark?.line ?? 1) + breaksBefore(offset) - breaksBefore(mark?.at ?? 0);
  };
}

/** File and line of the shielded text that begins at the offset `at`. */
export interface Mark {
  at: number;
  path: string;
  line: number;
}

/** A text that was made of several files. */
export interface ShieldedText {
  text: string;
  /** Marks in the order of the text. */
  marks: readonly Mark[];
}

/** Returns the file and line from which the text at an offset comes. */
export function placeAt({ marks }: ShieldedText, offset: number): { path: string; line: number } {
  const mark =
    marks[
      Math.max(
        0,
        lastUpTo(marks.length, offset, (index) => marks[index]?.at ?? 0),
      )
    ];
  return { path: mark?.path ?? '', line: mark?.line ?? 1 };
}

/** Returns the text from `start` to `end` as a separate text. */
export function sliceSource(source: SourceText, start: number, end: number): SourceText {
  return {
    path: source.path,
    text: source.text.slice(start, end),
    lineAt: (offset) => source.lineAt(start + offset),
  };
}
