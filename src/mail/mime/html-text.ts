// Makes the plain text of a mail that has only HTML. Runs while a send is accepted, so it reads the
// HTML once, in linear time (html-to-text takes 14 s for a megabyte of nested <div>).
import { readHtml } from './html/read-html.ts';
import type { Attributes } from './html/tokens.ts';

/** Longest link text compared with the address of its link. */
const longestLink = 2_000;

/** Elements that begin and end a paragraph. */
export const paragraphs: ReadonlySet<string> = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'ul', 'ol', 'table', 'hr'],
]);
/** Elements that begin and end a line. */
export const lines: ReadonlySet<string> = new Set([
  ...['br', 'div', 'tr', 'li', 'section', 'article', 'header', 'footer', 'main', 'nav', 'form'],
  ...['dt', 'dd', 'address', 'figure', 'figcaption', 'body', 'center'],
]);

/** Characters that pad the previews of mail and are invisible. */
const invisible = /\u034f|[\u00ad\u200b-\u200d\u2007\u2060\ufeff]/g;

/** Joins words, spaces and line ends: never two spaces, never two empty lines. */
class TextBuilder {
  #text = '';
  /** Words since `mark`, kept apart because a search of the whole text would cost time by its length. */
  #marked = '';
  /** Number of line ends before the next word. */
  #breaks = 0;
  #hasSpace = false;

  mark(): void {
    this.#marked = '';
  }

  get marked(): string {
    return this.#marked;
  }

  break(count: number): void {
    this.#breaks = Math.max(this.#breaks, count);
  }

  add(text: string): void {
    const words = text.replace(invisible, '').replaceAll(/\s+/g, ' ');
    const isBlank = words === '' || words === ' ';
    this.#hasSpace ||= words.startsWith(' ');
    if (isBlank) return;
    if (this.#text !== '') {
      if (this.#breaks > 0) this.#text += '\n'.repeat(this.#breaks);
      else if (this.#hasSpace) this.#text += ' ';
    }
    this.#text += words.trim();
    if (this.#marked.length <= longestLink) this.#marked += words.trim();
    this.#breaks = 0;
    this.#hasSpace = words.endsWith(' ');
  }

  end(): string {
    return this.#text === '' ? '' : `${this.#text}\n`;
  }
}

/** Applies a tag to the text, an end tag without attributes; returns the address of the link that is open after it. */
function takeTag(
  out: TextBuilder,
  name: string,
  attributes: Attributes | null,
  link: string | null,
): string | null {
  if (name === 'a') {
    if (link && link !== out.marked) out.add(` <${link}>`);
    out.mark();
    const href = attributes?.get('href')?.trim() ?? '';
    return /^(?:https?|mailto|tel):/i.test(href) ? href : null;
  }
  if (paragraphs.has(name)) out.break(2);
  else if (lines.has(name)) out.break(1);
  if (name === 'li' && attributes) out.add('- ');
  if (name === 'td' || name === 'th') out.add(' ');
  if (name === 'img') out.add(` ${attributes?.get('alt') ?? ''} `);
  return link;
}

/**
 * Converts HTML to text with line feeds; returns an empty text if it has no words. Hidden words are left out unless
 * somebody decides on all that the mail has.
 */
export function textOfHtml(html: string, { withHidden = false } = {}): string {
  const out = new TextBuilder();
  let link: string | null = null;
  const tag = (name: string, attributes: Attributes | null) => {
    link = takeTag(out, name, attributes, link);
  };
  readHtml(html, {
    text(words, hiding) {
      if (!hiding || withHidden) out.add(words);
    },
    open: tag,
    close: (name) => tag(name, null),
  });
  return out.end();
}
