// Splits the HTML of a mail into blocks of text with the size of their letters: a code often stands alone and
// large.

import { attributeOf, decodeEntities, readHtml } from '../html-tags.ts';
import { lines, paragraphs } from '../html-text.ts';

export interface Block {
  text: string;
  /** Size of the largest letters, in CSS pixels. */
  size: number;
}

const mostBlocks = 2_000;
const mostOpen = 100;
const normal = 16;
const headings: Readonly<Record<string, number>> = { h1: 32, h2: 24, h3: 19, big: 19 };
/** Sizes of `<font size>` 1 to 7. */
const fontSizes = [10, 13, 16, 18, 24, 32, 48];
const pixels: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, rem: normal };
const voids = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'col', 'wbr', '']);
const invisible = /\u034f|[\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** Returns the size that a tag gives its letters, within letters of the size `outer`. */
function sizeOf(name: string, tag: string, outer: number): number {
  const style = attributeOf(tag, 'style');
  const [, count, unit = ''] =
    /(?:^|[;\s])font(?:-size)?\s*:[^;]{0,60}?(\d{1,4}(?:\.\d{1,4})?)(px|pt|r?em|%)/i.exec(style) ??
    [];
  if (count !== undefined) {
    const key = unit.toLowerCase();
    if (key === 'em') return Number(count) * outer;
    return key === '%' ? (Number(count) / 100) * outer : Number(count) * (pixels[key] ?? 1);
  }
  if (name === 'font') return fontSizes[Number(attributeOf(tag, 'size')) - 1] ?? outer;
  return headings[name] ?? outer;
}

/** Collects the blocks. Text of telephone links is left out. */
class Blocks {
  readonly found: Block[] = [];
  readonly #open: { name: string; size: number; isPhone: boolean }[] = [];
  #text = '';
  #size = 0;

  text(words: string): void {
    const top = this.#open.at(-1);
    if (top?.isPhone) return;
    const text = decodeEntities(words).replace(invisible, '').replace(/\s+/g, ' ');
    this.#text += text;
    if (text.trim() !== '') this.#size = Math.max(this.#size, top?.size ?? normal);
  }

  tag(name: string, tag: string): void {
    if (paragraphs.has(name) || lines.has(name)) this.end();
    else if (name === 'td' || name === 'th') this.#text += ' ';
    if (tag.startsWith('</')) this.#close(name);
    else if (!voids.has(name) && !tag.endsWith('/>')) {
      const top = this.#open.at(-1);
      const size = sizeOf(name, tag, top?.size ?? normal);
      const isPhone =
        top?.isPhone || (name === 'a' && /^(?:tel|sms):/i.test(attributeOf(tag, 'href')));
      if (this.#open.length === mostOpen) this.#open.shift();
      this.#open.push({ name, size, isPhone });
    }
  }

  #close(name: string): void {
    const at = this.#open.findLastIndex((one) => one.name === name);
    if (at >= 0) this.#open.length = at;
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
