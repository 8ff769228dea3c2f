// Joins the words of HTML into lines of text.

/** Longest link text compared with the address of the link. */
const longestLink = 2_000;
/** Most line ends between words: two, for an empty line. */
const mostBreaks = 2;

/**
 * Invisible characters, which pad previews, and noncharacters. A joiner between letters or pictures
 * is kept, because it changes their shape.
 */
const invisible =
  /\u034f|[\u00ad\u200b\u2060\ufdd0-\ufdef\ufeff]|(?<![\p{L}\p{M}\p{S}])(?:\u200c|\u200d)+|(?:\u200c|\u200d)+(?![\p{L}\p{M}\p{S}])/gu;
const plain = /^[\t\n\r\x20-\x7e\u00a0-\u00ac\u00ae-\u024f]*$/;

/** Removes invisible characters. They do not separate words. */
export function withoutInvisible(text: string): string {
  return plain.test(text) ? text : text.replace(invisible, '');
}

const noSpace = '';

export class TextBuilder {
  #text = '';
  /**
   * Words since the last call of `mark`, kept separately because a search of the whole text would
   * take time in proportion to the text.
   */
  #marked = '';
  /** Number of line ends before the next word. */
  #breaks = 0;
  /** White space before the next word, unless a line ends there. */
  #space = noSpace;
  /** Mark, such as a bullet, to write before the next words. */
  #mark = '';
  /** Prefixes of the last line and of the next line. */
  #lastPrefix = '';
  #prefix = '';

  mark(): void {
    this.#marked = '';
  }

  get marked(): string {
    return this.#marked;
  }

  get length(): number {
    return this.#text.length;
  }

  /** Ends the line: at least `count` line ends precede the next word. */
  break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count);
  }

  /** Adds a line end, unless the text is still empty. */
  endLine(): void {
    if (this.#text !== '') this.#breaks += 1;
  }

  /** Sets the prefix of the following lines. */
  enter(prefix: string): void {
    this.#prefix = prefix;
    this.break(1);
  }

  /** Adds a line unchanged and without the prefix. */
  addLine(line: string): void {
    const [prefix, mark] = [this.#prefix, this.#mark];
    this.#mark = '';
    this.enter('');
    this.#write(line);
    this.#mark = mark;
    this.enter(prefix);
  }

  /** Adds words. A run of white space counts as a single space. */
  add(text: string): void {
    const words = withoutInvisible(text).replaceAll(/\s+/g, ' ');
    const shown = words.trim();
    if (words.startsWith(' ') && this.#space === noSpace) this.#space = ' ';
    if (shown === '') return;
    this.#write(shown);
    if (words.endsWith(' ')) this.#space = ' ';
  }

  /** Adds a word unchanged, after at least a space. */
  addWord(word: string): void {
    if (this.#space === noSpace) this.#space = ' ';
    this.#write(word);
  }

  /**
   * Sets the mark, such as a bullet, to write before the next words, in place of an earlier mark.
   */
  addMark(mark: string): void {
    this.#mark = mark;
  }

  /** Adds preformatted text: keeps line ends and white space, except at the end of a line. */
  addLines(text: string): void {
    for (const [number, line] of withoutInvisible(text)
      .split(/\r\n?|\n/)
      .entries()) {
      if (number > 0) this.endLine();
      const shown = line.trimEnd();
      if (shown !== '') this.#write(shown);
      this.#space += line.slice(shown.length);
    }
  }

  #write(words: string): void {
    if (this.#text === '') this.#begin();
    else if (this.#breaks > 0) this.#endLines();
    else this.#text += this.#space;
    this.#text += this.#mark + words;
    this.#mark = '';
    if (this.#marked === '') this.#marked = words;
    else if (this.#marked.length <= longestLink) this.#marked += this.#space + words;
    this.#breaks = 0;
    this.#space = noSpace;
  }

  #begin(): void {
    this.#text = this.#prefix;
    this.#lastPrefix = this.#prefix;
  }

  #endLines(): void {
    const [one, other] = [this.#lastPrefix, this.#prefix];
    const empty = one.startsWith(other) ? other : other.startsWith(one) ? one : '';
    if (this.#breaks >= mostBreaks) this.#text += `\n${empty}`;
    this.#text += `\n${other}`;
    this.#lastPrefix = other;
  }

  end(): string {
    return this.#text === '' ? '' : `${this.#text}\n`;
  }
}
