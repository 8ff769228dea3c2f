// Lets mrml render MJML that mjml-reader.ts accepted. mrml gets only tags and words. Contents and
// Liquid are inserted afterwards, because mrml parses HTML as XML.
import mrml from 'mrml';
import { TemplateProblem } from '../problem.ts';
import { type ReadState, shieldHtml } from './html.ts';
import { checkTree } from './html-tree.ts';
import { collectCss } from './inlinable-css.ts';
import {
  type MjmlContext,
  type MjmlNode,
  type MjmlPiece,
  type MjmlTag,
  readMjml,
} from './mjml-reader.ts';
import { wordsOf } from './mjml-words.ts';
import type { ShieldedText, SourceText } from './shields.ts';

/** HTML that mrml made of MJML, with words in place of Liquid. */
interface MadeHtml {
  html: ShieldedText;
  /** Content of `mj-preview`; null without the tag. */
  preview: string | null;
}

/** Returns the elements that mrml writes around the content of a tag, if parsers depend on them. */
function around(tag: string, parent: string): { before: string; after: string } {
  const isRow = tag === 'mj-raw' && (parent === 'mj-column' || parent === 'mj-hero');
  const open = isRow ? '<table><tbody>' : tag === 'mj-table' ? '<table>' : '';
  return { before: `<!doctype html><body>${open}`, after: open === '' ? '' : '</table>' };
}

const fontAddress = /^https:\/\/[^\s"'()<>\\]+$/;
const escapeValue = (value: string) => value.replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Adds a unit to zeros in paddings: without a unit, mrml ignores them when it computes widths. */
const withUnits = (name: string, value: string) =>
  name.includes('padding') ? value.replace(/(^|\s)0(?=\s|$)/g, '$10px') : value;

class MjmlWriter {
  readonly #state: ReadState;
  /** HTML that replaces each word once mrml has finished. */
  readonly #later = new Map<string, string>();
  preview: string | null = null;

  constructor(state: ReadState) {
    this.#state = state;
  }

  write(node: MjmlNode, parent: string): string {
    if (node.tag === null) return this.#piece(node, parent);
    const { tag, attributes, children, content } = node;
    if (tag === 'mj-font') this.#checkFont(node);
    if (tag === 'mj-image') this.#adviseOnImage(node);
    if (tag === 'mj-section' || tag === 'mj-group') this.#checkColumns(node);
    if (tag === 'mj-preview') {
      this.#takePreview(node);
      return '';
    }
    if (tag === 'mj-style' && content) return this.#style(node, content);
    const written = [...attributes]
      .filter(([name, value]) => !(name === 'full-width' && value === 'false'))
      .map(([name, value]) => ` ${name}="${escapeValue(withUnits(name, value))}"`)
      .join('');
    const inner = content
      ? this.#content(node, content, parent)
      : children.map((child) => this.write(child, tag)).join('');
    return `<${tag}${written}>${inner}</${tag}>`;
  }

  /** Replaces each word in the rendered HTML by the content that was set aside. */
  finish(html: string): string {
    return html.replace(this.#state.shields.words, (word) => this.#later.get(word) ?? word);
  }

  #setAside(html: string, { path, line }: { path: string; line: number }): string {
    const word = this.#state.shields.hideText(html, path, line);
    this.#later.set(word, html);
    return word;
  }

  #piece(piece: MjmlPiece, parent: string): string {
    const isComment = piece.text.startsWith('<!--');
    const text = isComment ? this.#setAside(piece.text, piece) : piece.text;
    return parent === 'mj-navbar' ? `<!--${text}-->` : `<mj-raw>${text}</mj-raw>`;
  }

  #content(node: MjmlTag, content: SourceText, parent: string): string {
    if (wordsOf(node.tag)?.content === 'text') {
      return this.#setAside(escapeValue(content.text.trim()), node);
    }
    const html = shieldHtml(this.#state, content, { isInTable: node.tag === 'mj-table' });
    // mrml omits the elements around an empty text.
    if (html.text.trim() === '') return '';
    const isInHead = parent === 'mj-head';
    if (!isInHead && parent !== 'mj-wrapper') {
      checkTree(this.#state.shields, html, around(node.tag, parent));
    }
    return this.#setAside(html.text, node);
  }

  #style(node: MjmlTag, content: SourceText): string {
    const { warnings } = this.#state;
    const isInline = node.attributes.get('inline') === 'inline';
    const isReadable = collectCss(
      isInline ? this.#state : { ...this.#state, warnings: [] },
      content,
    );
    if (isInline && isReadable) {
      this.#state.css.push(content.text);
      return '';
    }
    if (/@font-face/i.test(content.text) && /url\(\s*["']?http:/i.test(content.text)) {
      const { path, line } = node;
      warnings.push({ code: 'remote-css', message: 'a font is loaded over http', path, line });
    }
    return `<mj-style>${this.#setAside(content.text, node)}</mj-style>`;
  }

  #takePreview(node: MjmlTag): void {
    if (this.preview !== null) {
      throw new TemplateProblem(node.path, node.line, 'there is a second <mj-preview>');
    }
    this.preview = node.content?.text.trim() ?? '';
  }

  #checkFont({ attributes, path, line }: MjmlTag): void {
    if (!fontAddress.test(attributes.get('href') ?? '') || !attributes.get('name')) {
      throw new TemplateProblem(
        path,
        line,
        '<mj-font> needs a name and an href that begins with https://',
      );
    }
    const message = 'mail programs load the font from its server, or leave it out';
    this.#state.warnings.push({ code: 'remote-css', message, path, line });
  }

  #adviseOnImage({ attributes, path, line }: MjmlTag): void {
    const src = attributes.get('src') ?? '';
    const { warnings, shields } = this.#state;
    if (!attributes.has('alt')) {
      const message = `the image ${shields.restore(src).slice(0, 100)} has no alt: say what it shows, or alt="" for decoration`;
      warnings.push({ code: 'image-without-alt', message, path, line });
    }
    if (/^\s*http:/i.test(src)) {
      const message = `the image ${shields.restore(src).slice(0, 100)} is loaded over http: use https`;
      warnings.push({ code: 'insecure-image', message, path, line });
    }
  }

  /**
   * Columns without a width share the remaining width, so their number must be known when the
   * template is published. @throws TemplateProblem
   */
  #checkColumns({ children }: MjmlTag): void {
    const block = children.find(
      (child) =>
        child.tag === null &&
        this.#state.shields.in(child.text).some(({ role }) => role === 'begin'),
    );
    const isOpen = children.some(
      (child) =>
        (child.tag === 'mj-column' || child.tag === 'mj-group') && !child.attributes.has('width'),
    );
    if (block && isOpen) {
      const message = 'beside a block of Liquid each column and group needs a width';
      throw new TemplateProblem(block.path, block.line, message);
    }
  }
}

/** Removes the Liquid outside of `mj-body` and `mj-head`, and returns it as `outside`. */
function takeOutside(root: MjmlTag): { document: MjmlTag; outside: string } {
  const document = root.children.find((child): child is MjmlTag => child.tag === 'mjml') ?? root;
  const pieces = [...root.children, ...document.children].filter((child) => child.tag === null);
  const children = document.children.filter((child) => child.tag !== null);
  return { document: { ...document, children }, outside: pieces.map(({ text }) => text).join('') };
}

function render(mjml: string, path: string): string {
  const engine = new mrml.Engine();
  // Disables default fonts, so that a mail loads nothing that the author did not name.
  engine.setRenderOptions({ disableComments: false, socialIconOrigin: null, fonts: {} });
  const result = engine.toHtml(mjml);
  engine.free();
  if (result.type === 'success') return result.content;
  throw new TemplateProblem(path, null, `MJML cannot be rendered: ${result.message.slice(0, 200)}`);
}

/**
 * Renders MJML. @throws TemplateProblem; WebAssembly.RuntimeError if mrml fails; then the module is
 * unusable
 */
export function renderMjml(state: ReadState, context: MjmlContext, source: SourceText): MadeHtml {
  const { shields } = state;
  const { document, outside } = takeOutside(readMjml(context, source));
  const writer = new MjmlWriter(state);
  const mjml = writer.write(document, 'root');
  const rendered = render(mjml, source.path);
  const kept = new Set(shields.in(rendered));
  for (const hidden of shields.in(mjml)) {
    if (kept.has(hidden)) continue;
    throw new TemplateProblem(hidden.path, hidden.line, 'Liquid is not possible in this attribute');
  }
  const html = outside + writer.finish(rendered);
  const whole = { path: source.path, text: html, lineAt: () => 1 };
  return { html: shieldHtml(state, whole, { isOurs: true }), preview: writer.preview };
}
