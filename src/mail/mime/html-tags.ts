// Reads the tags and texts of an HTML mail once, in linear time at any depth of nesting.

/** Longest part of the HTML that is read. */
const mostCharacters = 256 * 1024;

/** Elements without readable text. */
const skipped = new Set(['script', 'style', 'title', 'template']);

const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®' },
  ...{ trade: '™', hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“' },
  ...{ rdquo: '”', bdquo: '„', laquo: '«', raquo: '»', bull: '•', middot: '·', euro: '€' },
  ...{ pound: '£', yen: '¥', cent: '¢', sect: '§', deg: '°', times: '×', larr: '←', rarr: '→' },
  ...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß' },
  ...{ eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç', ecirc: 'ê', ntilde: 'ñ', shy: '' },
  ...{ aacute: 'á', iacute: 'í', oacute: 'ó', uacute: 'ú', acirc: 'â', ocirc: 'ô', icirc: 'î' },
  ...{ atilde: 'ã', otilde: 'õ', aring: 'å', oslash: 'ø', aelig: 'æ', igrave: 'ì', ograve: 'ò' },
  ...{ zwnj: '', zwj: '' },
};

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith('#')) return entities[name] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : '\ufffd';
}

/** Replaces character references by their characters; unknown names stay. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|[a-z]{1,8});/gi, decodeEntity);
}

/** Returns the decoded value of an attribute; empty if it is absent. */
export function attributeOf(tag: string, name: 'href' | 'alt' | 'style' | 'size'): string {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i').exec(
    tag,
  );
  return decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? '').trim();
}

/** Returns the end of the tag, comment or declaration at `at`, or -1 if it is unclosed. */
function endOfTag(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return html.indexOf('>', at);
  const end = html.indexOf('-->', at + 4);
  return end < 0 ? -1 : end + 2;
}

interface HtmlReader {
  /** Takes the text between two tags, its character references not decoded. */
  text(words: string): void;
  /** Takes one tag; the name is lower case, and empty for a comment. */
  tag(name: string, tag: string): void;
}

/** Passes the texts and tags of the HTML to `reader`, without the content of scripts and styles. */
export function readHtml(whole: string, reader: HtmlReader): void {
  const html = whole.slice(0, mostCharacters);
  const tagStart = /<[a-z/!?]/gi;
  let at = 0;
  for (;;) {
    tagStart.lastIndex = at;
    const start = tagStart.exec(html)?.index ?? -1;
    reader.text(html.slice(at, start < 0 ? undefined : start));
    if (start < 0) return;
    const end = endOfTag(html, start);
    if (end < 0) return;
    const tag = html.slice(start, end + 1);
    const name = /^<\/?([a-z][a-z\d]*)/i.exec(tag)?.[1]?.toLowerCase() ?? '';
    at = end + 1;
    if (skipped.has(name) && tag[1] !== '/') {
      const close = new RegExp(`</${name}`, 'gi');
      close.lastIndex = at;
      const found = close.exec(html);
      if (!found) return;
      at = found.index;
    } else reader.tag(name, tag);
  }
}
