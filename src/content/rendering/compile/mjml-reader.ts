// Reads MJML strictly before any library reads it: unknown tags and attributes, wrong nesting and
// depth are refused with file and line. mrml would silently drop unknown tags and attributes, and
// trap at 400 nested tags.
import { TemplateProblem } from '../problem.ts';
import { compileLimits } from './limits.ts';
import { attributeProblem, bodyTags, wordsOf } from './mjml-words.ts';
import { type Hidden, prints, type Shields, type SourceText, sliceSource } from './shields.ts';

/** A tag of MJML, or a piece between tags that stays as it is. */
export type MjmlNode = MjmlTag | MjmlPiece;

export interface MjmlTag {
  tag: string;
  attributes: Map<string, string>;
  children: MjmlNode[];
  /** HTML, CSS or text in a tag such as `mj-text`; null for a tag that is empty or holds MJML. */
  content: SourceText | null;
  path: string;
  line: number;
}

/** Liquid or a conditional comment between tags. */
export interface MjmlPiece {
  tag: null;
  text: string;
  path: string;
  line: number;
}

/** Parts of the compilation that the reader needs. */
export interface MjmlContext {
  shields: Shields;
  /** Opens the file of an `mj-include`. The file counts as open until `close`, to detect cycles. */
  openInclude(address: string, from: string, line: number): { source: SourceText; close(): void };
  openPartial(hidden: Hidden): { source: SourceText; begin: string; end: string; close(): void };
}

const openTag = /<([a-z][a-z0-9-]*)(?=[\s/>])/iy;
const attribute = /\s+([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/y;
const tagEnd = /\s*(\/?)>/y;
const closeTag = /<\/([a-z][a-z0-9-]*)\s*>/iy;
/** Tags of MJML that are refused, with the advice for each. */
const unsupportedTags: Readonly<Record<string, string>> = {
  'mj-html-attributes': 'write attributes into the HTML',
  'mj-carousel': 'few mail programs show it; use images',
};
/** Matches the beginning of a conditional comment for Outlook, such as `<!--[if mso]>`. */
const conditional = /^<!--\s*(?:\[if|<!\[endif)/;

class MjmlReader {
  readonly #context: MjmlContext;
  readonly #source: SourceText;
  readonly #open: MjmlTag[];
  readonly #floor: number;
  readonly #count: { tags: number };
  #at = 0;

  /** Begins inside of the tags in `open`; new nodes become children of the last tag. */
  constructor(
    context: MjmlContext,
    source: SourceText,
    open: MjmlTag[],
    count: { tags: number } = { tags: 0 },
  ) {
    this.#count = count;
    this.#context = context;
    this.#source = source;
    this.#open = open;
    this.#floor = open.length;
  }

  read(): void {
    const { text } = this.#source;
    while (this.#at < text.length) {
      const next = text.indexOf('<', this.#at);
      this.#between(this.#at, next < 0 ? text.length : next);
      if (next < 0) break;
      this.#at = next;
      if (text.startsWith('<!--', next)) this.#comment(next);
      else if (text.startsWith('</', next)) this.#close(next);
      else this.#tag(next);
    }
    const unclosed = this.#open[this.#floor];
    if (unclosed) {
      throw new TemplateProblem(unclosed.path, unclosed.line, `<${unclosed.tag}> is not closed`);
    }
  }

  #fault(at: number, message: string): TemplateProblem {
    return new TemplateProblem(this.#source.path, this.#source.lineAt(at), message);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source.text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  get #parent(): MjmlTag | undefined {
    return this.#open.at(-1);
  }

  #add(at: number, text: string): void {
    const { path } = this.#source;
    this.#parent?.children.push({ tag: null, text, path, line: this.#source.lineAt(at) });
  }

  /** Reads the Liquid and the spaces between two tags. */
  #between(start: number, end: number): void {
    const text = this.#source.text.slice(start, end);
    if (text.trim() === '') return;
    const { shields } = this.#context;
    const [stray] = text.replace(shields.words, '').match(/\S[^\n]{0,40}/) ?? [];
    const parent = this.#parent;
    if (stray !== undefined) {
      const at = start + Math.max(0, text.indexOf(stray[0] ?? ''));
      throw this.#fault(at, `text is not possible here, but in <mj-text>: ${stray.slice(0, 40)}`);
    }
    for (const hidden of shields.in(text)) {
      if (parent && !mayHoldLiquid(parent.tag)) {
        throw new TemplateProblem(
          hidden.path,
          hidden.line,
          `Liquid is not possible between the tags of <${parent.tag}>`,
        );
      }
      if (hidden.partial !== null) this.#partial(hidden);
      else if (prints(hidden) && parent?.tag !== 'mj-body' && parent?.tag !== 'mj-head') {
        const message = 'a value is not possible here: put it into <mj-text> or <mj-raw>';
        throw new TemplateProblem(hidden.path, hidden.line, message);
      } else {
        const { path, line, word } = hidden;
        parent?.children.push({ tag: null, text: word, path, line });
      }
    }
  }

  #partial(hidden: Hidden): void {
    const { source, begin, end, close } = this.#context.openPartial(hidden);
    const { path, line } = hidden;
    this.#parent?.children.push({ tag: null, text: begin, path, line });
    new MjmlReader(this.#context, source, this.#open, this.#count).read();
    this.#parent?.children.push({ tag: null, text: end, path, line });
    close();
  }

  #comment(start: number): void {
    const { text } = this.#source;
    const end = text.indexOf('-->', start + 4);
    if (end < 0) throw this.#fault(start, 'a comment is not closed');
    const comment = text.slice(start, end + 3);
    this.#at = end + 3;
    if (!conditional.test(comment) && !this.#context.shields.has(comment)) return;
    const parent = this.#parent;
    if (
      !parent ||
      !wordsOf(parent.tag)?.children.includes('mj-raw') ||
      parent.tag === 'mj-wrapper'
    ) {
      throw this.#fault(start, 'a conditional comment or Liquid in a comment is not possible here');
    }
    this.#add(start, comment);
  }

  #close(start: number): void {
    const name = this.#match(closeTag)?.[1];
    const open = this.#parent;
    if (name === undefined) throw this.#fault(start, 'an end tag is not complete');
    if (this.#open.length <= this.#floor || open?.tag !== name) {
      const expected =
        this.#open.length > this.#floor && open ? `: </${open.tag}> is expected` : '';
      throw this.#fault(start, `</${name.slice(0, 40)}> closes nothing${expected}`);
    }
    this.#open.pop();
  }

  #tag(start: number): void {
    const name = this.#match(openTag)?.[1];
    if (name === undefined) {
      const found = this.#source.text.slice(start, start + 10).split('\n')[0];
      throw this.#fault(start, `a tag is expected, not ${found}`);
    }
    this.#checkPlace(start, name);
    this.#count.tags += 1;
    if (this.#count.tags > compileLimits.tags) {
      throw this.#fault(start, `there are more than ${compileLimits.tags} tags`);
    }
    const { attributes, isClosed } = this.#attributes(start, name);
    if (name === 'mj-include') {
      if (!isClosed) throw this.#fault(start, '<mj-include> ends with />');
      this.#include(start, attributes);
      return;
    }
    const { path } = this.#source;
    const line = this.#source.lineAt(start);
    const node: MjmlTag = { tag: name, attributes, children: [], content: null, path, line };
    this.#parent?.children.push(node);
    if (isClosed) return;
    if (wordsOf(name)?.content) node.content = this.#content(start, name);
    else {
      this.#open.push(node);
      if (this.#open.length > compileLimits.nesting) {
        throw this.#fault(start, `tags are nested more than ${compileLimits.nesting} deep`);
      }
    }
  }

  #checkPlace(start: number, name: string): void {
    const parent = this.#parent;
    if (name === 'mj-include' && parent) return;
    const unsupported = unsupportedTags[name];
    if (unsupported !== undefined)
      throw this.#fault(start, `<${name}> is not supported: ${unsupported}`);
    const isAttributes = parent?.tag === 'mj-attributes';
    const known = isAttributes
      ? name === 'mj-all' || name === 'mj-class' || name === 'mj-body' || bodyTags.includes(name)
      : wordsOf(name) !== undefined;
    if (!known) {
      const more = name.startsWith('mj')
        ? ''
        : ': HTML is possible in <mj-text>, <mj-raw> and <mj-table>';
      throw this.#fault(start, `<${name.slice(0, 40)}> is not a tag of MJML here${more}`);
    }
    if (isAttributes || !parent) return;
    const isPossible =
      parent.tag === 'root' ? name === 'mjml' : wordsOf(parent.tag)?.children.includes(name);
    if (!isPossible) {
      const place = parent.tag === 'root' ? 'outside of <mjml>' : `in <${parent.tag}>`;
      throw this.#fault(start, `<${name}> is not possible ${place}`);
    }
    const isSingle = name === 'mj-head' || name === 'mj-body';
    if (isSingle && parent.children.some(({ tag }) => tag === name)) {
      throw this.#fault(start, `there is a second <${name}>`);
    }
  }

  #attributes(start: number, name: string) {
    const attributes = new Map<string, string>();
    const { shields } = this.#context;
    for (let found = this.#match(attribute); found; found = this.#match(attribute)) {
      const [, key = '', double, single] = found;
      const at = this.#at - 1;
      if (shields.has(key)) {
        throw this.#fault(at, `Liquid is not possible between the attributes of <${name}>`);
      }
      const value = double ?? single;
      if (value === undefined)
        throw this.#fault(at, `the attribute ${key} needs a value in quotes`);
      if (attributes.has(key)) throw this.#fault(at, `<${name}> has ${key} twice`);
      const isInclude = name === 'mj-include' && /^(?:path|type|css-inline)$/.test(key);
      const problem = isInclude ? null : attributeProblem(name, key, value, shields.has(value));
      if (problem !== null) throw this.#fault(at, problem);
      attributes.set(key, value);
    }
    const end = this.#match(tagEnd);
    if (!end) throw this.#fault(start, `<${name}> is not complete`);
    return { attributes, isClosed: end[1] === '/' };
  }

  #content(start: number, name: string): SourceText {
    const begin = this.#at;
    const close = new RegExp(`</${name}\\s*>`, 'g');
    close.lastIndex = begin;
    const end = close.exec(this.#source.text);
    if (!end) throw this.#fault(start, `<${name}> is not closed`);
    this.#at = close.lastIndex;
    return sliceSource(this.#source, begin, end.index);
  }

  #include(start: number, attributes: ReadonlyMap<string, string>): void {
    const line = this.#source.lineAt(start);
    const address = attributes.get('path');
    if (address === undefined) throw this.#fault(start, '<mj-include> needs path="./partials/…"');
    const type = attributes.get('type') ?? 'mjml';
    const parent = this.#parent;
    const { source, close } = this.#context.openInclude(address, this.#source.path, line);
    if (type === 'mjml') new MjmlReader(this.#context, source, this.#open, this.#count).read();
    else if (type === 'html' || type === 'css') {
      const tag = type === 'html' ? 'mj-raw' : 'mj-style';
      if (parent && !wordsOf(parent.tag)?.children.includes(tag)) {
        throw this.#fault(start, `a file of the type ${type} is not possible in <${parent.tag}>`);
      }
      const own = new Map(attributes.get('css-inline') === 'inline' ? [['inline', 'inline']] : []);
      parent?.children.push({
        tag,
        attributes: own,
        children: [],
        content: source,
        path: source.path,
        line: 1,
      });
    } else throw this.#fault(start, `<mj-include> has the type mjml, html or css`);
    close();
  }
}

/** Tells whether Liquid is possible between the children of a tag. */
function mayHoldLiquid(tag: string): boolean {
  return (
    wordsOf(tag)?.children.includes('mj-raw') === true || /^(?:root|mjml|mj-navbar)$/.test(tag)
  );
}

/**
 * Reads a document of MJML.
 * @throws TemplateProblem at the first mistake
 */
export function readMjml(context: MjmlContext, source: SourceText): MjmlTag {
  const root: MjmlTag = {
    tag: 'root',
    attributes: new Map(),
    children: [],
    content: null,
    path: source.path,
    line: 1,
  };
  const begin = /<mjml[\s>]/.exec(source.text);
  if (!begin) throw new TemplateProblem(source.path, 1, 'MJML begins with <mjml>');
  new MjmlReader(context, source, [root]).read();
  const [first, second] = root.children.filter(({ tag }) => tag !== null) as MjmlTag[];
  if (first?.tag !== 'mjml' || second) {
    throw new TemplateProblem(
      source.path,
      second?.line ?? 1,
      'MJML has one <mjml>, around everything else',
    );
  }
  if (!first.children.some(({ tag }) => tag === 'mj-body')) {
    throw new TemplateProblem(source.path, first.line, '<mjml> has no <mj-body>');
  }
  return root;
}
