// Reads HTML with Liquid in it and writes HTML that parsers keep unchanged: comments replace Liquid
// between elements, and words (shields.ts) replace style sheets and styles with Liquid. Elements
// that load or run something are refused or reported.
import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import type { TemplateWarning } from '../compiled.ts';
import { TemplateProblem } from '../problem.ts';
import { checkBalance } from './html-tree.ts';
import { areDeclarations, collectCss } from './inlinable-css.ts';
import { adviceOnTag } from './lint.ts';
import {
  type Hidden,
  type Mark,
  type ShieldedText,
  type Shields,
  type SourceText,
  sliceSource,
} from './shields.ts';

/** State of a compilation that all readers share and add to. */
export interface ReadState {
  shields: Shields;
  warnings: TemplateWarning[];
  /** Style sheets that are inlined into `style` attributes, in the order of the HTML. */
  css: string[];
  /** Returns the HTML of the partial that a `render` tag places between elements. */
  placePartial(hidden: Hidden): ShieldedText;
  /** Returns the name of the first element in a partial; null without an element. */
  firstTagOf(partial: string): string | null;
}

/** Elements that contain only text, with the tokenizer state in which the text is read. */
const textElements: Readonly<Record<string, Tokenizer['state']>> = {
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  noscript: TokenizerMode.RAWTEXT,
  script: TokenizerMode.SCRIPT_DATA,
};

const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?/gy;

interface AttributeSpan {
  start: number;
  end: number;
  name: string;
  /** The value as the author wrote it, without quotes; null without a value. */
  value: string | null;
}

/** Returns the attributes of a start tag as the author wrote them, also repeated attributes. */
function attributesOf(tag: string): AttributeSpan[] {
  attribute.lastIndex = (/^<[^\s/>]+/.exec(tag)?.[0] ?? '').length;
  const found: AttributeSpan[] = [];
  for (let match = attribute.exec(tag); match; match = attribute.exec(tag)) {
    const [whole, name = '', written] = match;
    const end = match.index + whole.length;
    const start = end - whole.trimStart().replace(/^[\s/]+/, '').length;
    const value = written === undefined ? null : written.replace(/^(["'])([\s\S]*)\1$/, '$2');
    found.push({ start, end, name: name.toLowerCase(), value });
  }
  return found;
}

class HtmlReader {
  readonly #state: ReadState;
  readonly #source: SourceText;
  readonly #isOurs: boolean;
  #written = '';
  readonly #marks: Mark[] = [];
  /** Offset up to which the text has been written. */
  #at = 0;
  #textElement: string | null = null;
  /** For each open table, whether the next row needs a new `tbody`. */
  readonly #tables: boolean[] = [];
  #style: { start: number; content: number; isForScreens: boolean } | null = null;

  constructor(
    state: ReadState,
    source: SourceText,
    { isOurs = false, isInTable = false }: HtmlPlace,
  ) {
    this.#state = state;
    this.#source = source;
    this.#isOurs = isOurs;
    if (isInTable) this.#tables.push(true);
  }

  read(): ShieldedText {
    const { text, path } = this.#source;
    const tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onStartTag: (token) => {
          this.#startTag(token);
          const state = textElements[token.tagName];
          if (state === undefined) return;
          tokenizer.state = state;
          this.#textElement = token.tagName;
        },
        onEndTag: (token) => this.#endTag(token),
        onComment: (token) => this.#comment(token),
        onDoctype: (token) => this.#keep(token),
        onCharacter() {},
        onWhitespaceCharacter() {},
        onNullCharacter() {},
        onEof() {},
      },
    );
    this.#mark(0);
    tokenizer.write(text, true);
    if (this.#style) {
      throw new TemplateProblem(
        path,
        this.#source.lineAt(this.#style.start),
        '<style> is not closed',
      );
    }
    this.#writeText(text.length);
    return { text: this.#written, marks: this.#marks };
  }

  #line(offset: number): number {
    return this.#source.lineAt(offset);
  }

  #fault(offset: number, message: string): TemplateProblem {
    return new TemplateProblem(this.#source.path, this.#line(offset), message);
  }

  #warn(offset: number, code: string, message: string): void {
    const { path } = this.#source;
    this.#state.warnings.push({ code, message, path, line: this.#line(offset) });
  }

  /** Writes the text up to a tag or a comment. */
  #writeText(end: number): void {
    const { shields } = this.#state;
    const text = this.#source.text.slice(this.#at, end);
    this.#at = end;
    if (this.#style) return;
    if (this.#textElement !== null) {
      checkBalance(shields.in(text), `<${this.#textElement}>`);
      this.#written += text;
    } else if (!shields.has(text)) this.#written += text;
    else this.#writeBetween(text, end);
  }

  #writeBetween(text: string, end: number): void {
    const { shields } = this.#state;
    let at = 0;
    for (const match of text.matchAll(shields.words)) {
      const [word] = match;
      this.#written += text.slice(at, match.index);
      at = match.index + word.length;
      const hidden = shields.only(word);
      if (this.#tables.at(-1) && hidden && this.#beginsRows(hidden, text.slice(at), end)) {
        // Parsers would add `tbody` only before the first row, and so inside the block.
        this.#written += '<tbody>';
        this.#tables[this.#tables.length - 1] = false;
      }
      if (hidden?.partial) {
        const placed = this.#state.placePartial(hidden);
        const shift = this.#written.length;
        this.#marks.push(...placed.marks.map((mark) => ({ ...mark, at: mark.at + shift })));
        this.#written += placed.text;
        this.#mark(end - text.length + at);
      } else {
        this.#mark(end - text.length + match.index);
        this.#written += `<!--${word}-->`;
      }
    }
    this.#written += text.slice(at);
  }

  /**
   * Tells whether a block or partial begins with a row of a table. `rest` is the text up to `end`.
   */
  #beginsRows({ role, partial }: Hidden, rest: string, end: number): boolean {
    const { shields, firstTagOf } = this.#state;
    if (partial !== null) return firstTagOf(partial) === 'tr';
    if (role !== 'begin') return false;
    const next = shields.in(rest).find((one) => one.partial !== null);
    if (next) return this.#beginsRows(next, '', end);
    return /^<tr[\s>]/i.test(this.#source.text.slice(end, end + 4));
  }

  /** Tracks where a parser would add a `tbody` that the author did not write. */
  #followTable(tagName: string, isEnd: boolean): void {
    const { length } = this.#tables;
    if (tagName === 'table') {
      if (isEnd) this.#tables.pop();
      else this.#tables.push(true);
    } else if (length > 0 && /^(?:tbody|thead|tfoot|tr|td|th)$/.test(tagName)) {
      if (/^t(?:body|head|foot)$/.test(tagName)) this.#tables[length - 1] = isEnd;
      else if (!isEnd) this.#tables[length - 1] = false;
    }
  }

  /** Records the file and the line of the text that is written next. */
  #mark(offset: number): void {
    const { path } = this.#source;
    this.#marks.push({ at: this.#written.length, path, line: this.#line(offset) });
  }

  /**
   * Writes a comment as it is. Hides `<![if !mso]>`: parsers would write it as a different comment.
   */
  #comment(token: Token.CommentToken): void {
    const { startOffset: start = 0, endOffset: end = 0 } = token.location ?? {};
    const { text, path } = this.#source;
    if (text.startsWith('<!--', start)) this.#keep(token);
    else {
      this.#writeText(start);
      const word = this.#state.shields.hideText(text.slice(start, end), path, this.#line(start));
      this.#written += `<!--${word}-->`;
      this.#at = end;
    }
  }

  /** Writes a comment or a doctype as it is. */
  #keep({ location }: Token.CommentToken | Token.DoctypeToken): void {
    if (!location) return;
    this.#writeText(location.startOffset);
    this.#written += this.#source.text.slice(location.startOffset, location.endOffset);
    this.#at = location.endOffset;
  }

  #startTag(token: Token.TagToken): void {
    const { location, tagName } = token;
    if (!location) return;
    const { startOffset: start, endOffset: end } = location;
    const { shields } = this.#state;
    this.#writeText(start);
    this.#at = end;
    this.#mark(start);
    const tag = this.#source.text.slice(start, end);
    this.#followTable(tagName, false);
    if (shields.has(tagName)) {
      throw this.#fault(start, 'the name of an element cannot be Liquid');
    }
    if (tagName === 'link' && this.#isOurs) {
      this.#written += `<!--${shields.hideText(tag, this.#source.path, this.#line(start))}-->`;
      return;
    }
    if (tagName === 'link' || tagName === 'plaintext') {
      const instead = tagName === 'link' ? ': put the CSS into <style>' : '';
      throw this.#fault(start, `<${tagName}> is refused${instead}`);
    }
    if (!this.#isOurs) {
      const attributes = Object.fromEntries(token.attrs.map(({ name, value }) => [name, value]));
      for (const { code, message } of adviceOnTag(tagName, attributes)) {
        this.#warn(start, code, message);
      }
    }
    if (tagName === 'style') {
      const media = token.attrs.find(({ name }) => name === 'media')?.value ?? 'all';
      const isForScreens = /^\s*(?:all|screen)\s*$/i.test(media);
      this.#style = { start, content: end, isForScreens };
    } else this.#written += this.#shieldAttributes(tag, start, tagName);
  }

  #endTag({ location, tagName }: Token.TagToken): void {
    if (!location) return;
    const { startOffset: start, endOffset: end } = location;
    this.#writeText(start);
    this.#followTable(tagName, true);
    if (this.#textElement === tagName) this.#textElement = null;
    this.#at = end;
    if (this.#style && tagName === 'style') {
      this.#endStyle(start, end);
      this.#style = null;
    } else this.#written += this.#source.text.slice(start, end);
  }

  #endStyle(contentEnd: number, end: number): void {
    const { shields } = this.#state;
    const { start, content, isForScreens } = this.#style ?? {
      start: 0,
      content: 0,
      isForScreens: false,
    };
    const { text, path } = this.#source;
    const word = shields.hideText(text.slice(start, end), path, this.#line(start));
    this.#written += `<!--${word}-->`;
    if (this.#isOurs) return;
    const css = sliceSource(this.#source, content, contentEnd);
    if (collectCss(this.#state, css) && isForScreens) this.#state.css.push(css.text);
  }

  #shieldAttributes(tag: string, start: number, tagName: string): string {
    const { shields } = this.#state;
    if (!shields.has(tag) && !/\sstyle\s*=/i.test(tag)) return tag;
    const spans = attributesOf(tag);
    const named = spans.filter(({ name }) => shields.has(name));
    const first = named.at(0)?.start ?? tag.length;
    const last = named.at(-1)?.end ?? tag.length;
    let written = '';
    let at = 0;
    for (const { start: from, end, name, value } of spans) {
      if (from < at) continue;
      if (from === first) {
        written +=
          tag.slice(at, first) + this.#hideAttributes(tag.slice(first, last), start, tagName);
        at = last;
        continue;
      }
      checkBalance(shields.in(value ?? ''), `the attribute ${name}`);
      if (name !== 'style' || value === null) continue;
      written += tag.slice(at, from) + this.#shieldStyle(value, start);
      at = end;
    }
    return written + tag.slice(at);
  }

  /**
   * Replaces `run` by a single word. `run` is the part of the tag from the first attribute with
   * Liquid in the name to the last such attribute, with all attributes between them.
   */
  #hideAttributes(run: string, start: number, tagName: string): string {
    const { shields } = this.#state;
    checkBalance(shields.in(run), `<${tagName}>`);
    if (/(?:^|\s)(?:class|style|id)\s*=/i.test(run.replace(shields.words, ' '))) {
      this.#warn(
        start,
        'attribute-not-inlined',
        `CSS does not reach class, id and style of <${tagName}> within a tag of Liquid`,
      );
    }
    return shields.hideText(run, this.#source.path, this.#line(start));
  }

  /**
   * Returns the attribute `style`. Replaces a value with Liquid or malformed CSS by a single
   * declaration, because css-inline would drop or move parts of the value.
   */
  #shieldStyle(value: string, start: number): string {
    const { shields } = this.#state;
    const quoted = value.replaceAll('"', '&quot;');
    if (this.#isOurs && /^--(\w+):\1$/.test(value)) return `style="${value}"`;
    if (!shields.has(value) && areDeclarations(value)) {
      return `style="${quoted}"`;
    }
    const word = shields.hideText(quoted, this.#source.path, this.#line(start));
    return `style="--${word}:${word}"`;
  }
}

interface HtmlPlace {
  /** True for HTML that mrml made of MJML. */
  isOurs?: boolean;
  /** True if the HTML is the content of a `<table>`. */
  isInTable?: boolean;
}

/**
 * Returns HTML in which words and comments replace the Liquid.
 * @throws TemplateProblem
 */
export function shieldHtml(
  state: ReadState,
  source: SourceText,
  place: HtmlPlace = {},
): ShieldedText {
  return new HtmlReader(state, source, place).read();
}
