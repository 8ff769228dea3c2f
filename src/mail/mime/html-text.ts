// Makes the text of an HTML mail that comes without one, for readers without HTML. Runs on the accept path,
// so it reads the HTML once, in linear time (html-to-text takes 14 s for a megabyte of nested <div>).

/** Longest part of the HTML that is converted. */
const mostCharacters = 256 * 1024;

/** Longest link text compared with the address of its link. */
const longestLink = 2_000;

/** Elements without readable text. */
const skipped = new Set(['script', 'style', 'title', 'template']);
const paragraphs = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'ul', 'ol', 'table', 'hr'],
]);
const lines = new Set([
  ...['br', 'div', 'tr', 'li', 'section', 'article', 'header', 'footer', 'main', 'nav', 'form'],
  ...['dt', 'dd', 'address', 'figure', 'figcaption', 'body', 'center'],
]);

const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®' },
  ...{ trade: '™', hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“' },
  ...{ rdquo: '”', bdquo: '„', laquo: '«', raquo: '»', bull: '•', middot: '·', euro: '€' },
  ...{ pound: '£', yen: '¥', cent: '¢', sect: '§', deg: '°', times: '×', larr: '←', rarr: '→' },
  ...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß' },
  ...{ eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç', ecirc: 'ê', ntilde: 'ñ', shy: '' },
  ...{ zwnj: '', zwj: '' },
};

/** Characters that pad the previews of mail and are invisible. */
const invisible = /\u034f|[\u00ad\u200b-\u200d\u2007\u2060\ufeff]/g;

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith('#')) return entities[name] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}

function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|[a-z]{1,8});/gi, decodeEntity);
}

function attributeOf(tag: string, name: 'href' | 'alt'): string {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(
    tag,
  );
  return decode(found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
}

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
    const words = decode(text).replace(invisible, '').replaceAll(/\s+/g, ' ');
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

/** Applies a tag to the text; returns the address of the link that is open after it. */
function takeTag(out: TextBuilder, name: string, tag: string, link: string | null): string | null {
  const isEnd = tag.startsWith('</');
  if (name === 'a') {
    if (link && link !== out.marked) out.add(` <${link.replaceAll('&', '&amp;')}>`);
    out.mark();
    if (isEnd) return null;
    const href = attributeOf(tag, 'href');
    return /^(?:https?|mailto|tel):/i.test(href) ? href : null;
  }
  if (paragraphs.has(name)) out.break(2);
  else if (lines.has(name)) out.break(1);
  if (name === 'li' && !isEnd) out.add('- ');
  if (name === 'td' || name === 'th') out.add(' ');
  if (name === 'img') out.add(` ${attributeOf(tag, 'alt').replaceAll('&', '&amp;')} `);
  return link;
}

/** Returns the end of the tag, comment or declaration at `at`, or -1 if it is unclosed. */
function endOfTag(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return html.indexOf('>', at);
  const end = html.indexOf('-->', at + 4);
  return end < 0 ? -1 : end + 2;
}

/** Converts HTML to text with line feeds; returns an empty text if it has no words. */
export function textOfHtml(whole: string): string {
  const html = whole.slice(0, mostCharacters);
  const out = new TextBuilder();
  const tagStart = /<[a-z/!?]/gi;
  let link: string | null = null;
  let at = 0;
  for (;;) {
    tagStart.lastIndex = at;
    const start = tagStart.exec(html)?.index ?? -1;
    out.add(html.slice(at, start < 0 ? undefined : start));
    if (start < 0) break;
    const end = endOfTag(html, start);
    if (end < 0) break;
    const tag = html.slice(start, end + 1);
    const name = /^<\/?([a-z][a-z\d]*)/i.exec(tag)?.[1]?.toLowerCase() ?? '';
    at = end + 1;
    if (skipped.has(name) && tag[1] !== '/') {
      const close = new RegExp(`</${name}`, 'gi');
      close.lastIndex = at;
      const found = close.exec(html);
      if (!found) break;
      at = found.index;
    } else link = takeTag(out, name, tag, link);
  }
  return out.end();
}
