// Splits the HTML of a mail into blocks of text, each with the size of the letters, because a code
// often stands alone and large.

import { type HtmlReader, readHtml } from '../html/read-html.ts';
import type { Attributes } from '../html/tokens.ts';
import { lines, paragraphs } from '../html-text.ts';
import { withoutInvisible } from '../text-builder.ts';

export interface Block {
  text: string;
  /** Size of the largest letters, in CSS pixels. */
  size: number;
}

const mostBlocks = 2_000;
/** Most characters of text that are read; further text is ignored. */
const mostCharacters = 256 * 1024;

/** Collects the blocks. Text of telephone links and hidden text are left out. */
class Blocks implements HtmlReader {
  readonly found: Block[] = [];
  #isPhone = false;
  #text = '';
  #size = 0;
  #characters = 0;

  text: HtmlReader['text'] = (words, hiding, { element }) => {
    if (this.#isPhone || hiding) return;
    const text = withoutInvisible(words).replace(/\s+/g, ' ');
    this.#text += text;
    this.#characters += text.length;
    if (text.trim() !== '') this.#size = Math.max(this.#size, element.looks.fontSize);
  };

  open(name: string, attributes: Attributes): void {
    this.#tag(name);
    if (name === 'a') this.#isPhone = /^\s*(?:tel|sms):/i.test(attributes.get('href') ?? '');
  }

  close(name: string): void {
    this.#tag(name);
    if (name === 'a') this.#isPhone = false;
  }

  isDone(): boolean {
    return this.#characters > mostCharacters || this.found.length >= mostBlocks;
  }

  #tag(name: string): void {
    if (paragraphs.has(name) || lines.has(name)) this.end();
    else if (name === 'td' || name === 'th') this.#text += ' ';
  }

  end(): void {
    const text = this.#text.replace(/ {2,}/g, ' ').trim();
    if (text !== '' && this.found.length < mostBlocks) this.found.push({ text, size: this.#size });
    this.#text = '';
    this.#size = 0;
  }
}

/** Returns the blocks of the HTML in their order, at most 2,000. */
export function readHtmlBlocks(html: string): Block[] {
  const blocks = new Blocks();
  readHtml(html, blocks);
  blocks.end();
  return blocks.found;
}
