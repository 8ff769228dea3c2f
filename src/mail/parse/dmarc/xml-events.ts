// A strict reader of small, untrusted XML documents: elements, text, CDATA. It refuses a DTD, so
// entities cannot be declared or expanded. Checks the form of attributes and omits them.

export type XmlEvent =
  | { kind: 'open'; name: string }
  | { kind: 'close'; name: string }
  | { kind: 'text'; text: string };

/** Fault of a malformed document; dmarc-report.ts returns null for it. */
export class XmlFault extends Error {}

const maxDepth = 32;
const maxTagCharacters = 4096;
const tag =
  /<(\/?)((?:[A-Za-z_][\w.-]{0,63}:)?[A-Za-z_][\w.-]{0,63})((?:\s+[A-Za-z_][\w:.-]{0,63}\s{0,8}=\s{0,8}(?:"[^"<]*"|'[^'<]*')){0,20})\s*(\/?)>/y;
const entities: Partial<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

function decodeEntity(name: string): string {
  const known = Object.hasOwn(entities, name) ? entities[name] : undefined;
  if (known !== undefined) return known;
  const digits = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
  const point = digits?.[1] ? Number.parseInt(digits[1], 16) : Number(digits?.[2] ?? Number.NaN);
  if (!(point > 0 && point <= 0x10ffff)) throw new XmlFault(`no such entity: ${name}`);
  return String.fromCodePoint(point).toWellFormed();
}

function decodeText(text: string): string {
  let decoded = '';
  let at = 0;
  for (let found = text.indexOf('&'); found >= 0; found = text.indexOf('&', at)) {
    const name = /^[^;]{1,10}(?=;)/.exec(text.slice(found + 1, found + 12))?.[0];
    if (name === undefined) throw new XmlFault('an ampersand alone');
    decoded += text.slice(at, found) + decodeEntity(name);
    at = found + name.length + 2;
  }
  return decoded + text.slice(at);
}

/** Returns the offset of the closing `mark`: `-->`, `?>` or `]]>`. @throws XmlFault without it. */
function findEnd(source: string, from: number, mark: string): number {
  const at = source.indexOf(mark, from);
  if (at < 0) throw new XmlFault(`${mark} is missing`);
  return at;
}

function readTag(source: string, start: number): { match: RegExpExecArray; end: number } {
  tag.lastIndex = start;
  const match = tag.exec(source);
  if (!match || match[0].length > maxTagCharacters) throw new XmlFault('a tag without form');
  return { match, end: start + match[0].length };
}

/**
 * Yields the events of a document in order, with names without their prefix. Takes linear time.
 * @throws XmlFault at the first malformed construct, a DTD, an unknown entity, or nesting deeper
 * than 32 levels
 */
export function* readXml(source: string): Generator<XmlEvent, void> {
  const open: string[] = [];
  let roots = 0;
  let at = 0;
  while (at < source.length) {
    const found = source.indexOf('<', at);
    const end = found < 0 ? source.length : found;
    const text = source.slice(at, end);
    if (open.length > 0) {
      if (text !== '') yield { kind: 'text', text: decodeText(text) };
    } else if (text.trim() !== '') throw new XmlFault('text outside the root');
    if (found < 0) break;
    if (source.startsWith('<!--', end)) at = findEnd(source, end + 4, '-->') + 3;
    else if (source.startsWith('<?', end)) at = findEnd(source, end + 2, '?>') + 2;
    else if (source.startsWith('<![CDATA[', end) && open.length > 0) {
      const close = findEnd(source, end + 9, ']]>');
      yield { kind: 'text', text: source.slice(end + 9, close) };
      at = close + 3;
    } else {
      const { match, end: next } = readTag(source, end);
      const name = (match[2] ?? '').replace(/^.*:/, '');
      if (match[1] === '/') {
        if (open.pop() !== match[2] || match[3] || match[4])
          throw new XmlFault(`</${name}> is astray`);
        yield { kind: 'close', name };
      } else {
        if (open.length === 0) roots += 1;
        if (roots > 1 || open.length === maxDepth) throw new XmlFault(`<${name}> is out of place`);
        yield { kind: 'open', name };
        if (match[4] === '/') yield { kind: 'close', name };
        else open.push(match[2] ?? '');
      }
      at = next;
    }
  }
  if (open.length > 0 || roots === 0) throw new XmlFault('the document is cut');
}
