// Builds the tree of HTML as browsers do. This bounds the depth before css-inline reads it, and
// proves that each block of Liquid holds whole elements, so that new elements may be written around
// the block.
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from 'parse5';
import { TemplateProblem } from '../problem.ts';
import { compileLimits } from './limits.ts';
import { type Hidden, placeAt, type ShieldedText, type Shields } from './shields.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;
type FaultAt = (offset: number, message: string) => TemplateProblem;

/** Number of elements, the doctype, and the offsets at which text can be inserted. */
export interface HtmlTree {
  elements: number;
  /** Offset after the start tag of `head`, else of `html`, else after the doctype, else 0. */
  headAt: number;
  /** Offset at which the content of `body` begins. */
  bodyAt: number;
  /** The doctype as the author wrote it; empty without a doctype. */
  doctype: string;
}

/** A block of Liquid, such as `{% if %}` to `{% endif %}`. */
interface Block {
  hidden: Hidden;
  parent: Node | null;
  begin: number;
  end: number;
}

const startOf = (node: Node) => node.sourceCodeLocation?.startOffset;
const nameOf = ({ text }: Hidden) => text.replace(/\s+/g, ' ').slice(0, 40) || 'the partial';

/**
 * Checks that blocks that begin in `place`, such as an attribute, also end there. @throws
 * TemplateProblem
 */
export function checkBalance(hidden: readonly Hidden[], place: string): void {
  const open: Hidden[] = [];
  for (const one of hidden) {
    if (one.role === 'begin') open.push(one);
    else if (one.role === 'part' ? open.length === 0 : one.role === 'end' && !open.pop()) {
      throw new TemplateProblem(one.path, one.line, `${nameOf(one)} began outside of ${place}`);
    }
  }
  const [unclosed] = open;
  if (unclosed) {
    throw new TemplateProblem(
      unclosed.path,
      unclosed.line,
      `${nameOf(unclosed)} must end in ${place}`,
    );
  }
}

class TreeCheck {
  readonly #shields: Shields;
  readonly #open: Block[] = [];
  readonly #closed: Block[] = [];
  /** Offsets of elements and texts, each with the innermost block of Liquid around it. */
  readonly #places: { at: number; name: string; block: Block | null }[] = [];

  constructor(shields: Shields) {
    this.#shields = shields;
  }

  walk(root: Node, faultAt: FaultAt): void {
    const waiting: Node[] = [root];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      if (node.nodeName === '#comment') this.#comment(node as DefaultTreeAdapterTypes.CommentNode);
      else if ('tagName' in node) {
        // html.ts refuses `<link>` too, but reads `title` as text: a `title` in SVG has elements.
        if (node.tagName === 'link') throw faultAt(startOf(node) ?? 0, '<link> is refused');
        this.#note(startOf(node), `<${node.tagName}>`);
      } else if (node.nodeName === '#text' && 'value' in node) this.#text(node);
      const content = 'content' in node ? [node.content] : [];
      const children = 'childNodes' in node ? node.childNodes : [];
      waiting.push(...children.toReversed(), ...content);
    }
    const [unclosed] = this.#open;
    if (unclosed) this.#apart(unclosed.hidden);
  }

  #note(at: number | undefined, name: string): void {
    if (at !== undefined) this.#places.push({ at, name, block: this.#open.at(-1) ?? null });
  }

  /**
   * Records both ends of a text. The parser may move a text and join it to a text elsewhere, so
   * that both ends come from different places.
   */
  #text({ value, sourceCodeLocation: location }: DefaultTreeAdapterTypes.TextNode): void {
    if (!location || value.trim() === '') return;
    if (/^\S/.test(value)) this.#note(location.startOffset, 'text');
    if (/\S$/.test(value)) this.#note(location.endOffset - 1, 'text');
  }

  #apart(hidden: Hidden): never {
    const message = `${nameOf(hidden)} and its end must stand in the same element, around whole elements`;
    throw new TemplateProblem(hidden.path, hidden.line, message);
  }

  #comment(node: DefaultTreeAdapterTypes.CommentNode): void {
    const at = startOf(node) ?? 0;
    for (const hidden of this.#shields.in(node.data)) {
      const top = this.#open.at(-1);
      if (hidden.role === 'begin') {
        this.#open.push({ hidden, parent: node.parentNode, begin: at, end: at });
      } else if (hidden.role !== null) {
        if (top?.parent !== node.parentNode) this.#apart(top?.hidden ?? hidden);
        if (hidden.role === 'part') continue;
        top.end = at;
        this.#closed.push(top);
        this.#open.pop();
      }
    }
  }

  /** Checks that nothing was moved into a block or out of it: browsers move misnested elements. */
  checkMoves(faultAt: FaultAt): void {
    const places = this.#places.sort((one, other) => one.at - other.at);
    const blocks = this.#closed.sort((one, other) => one.begin - other.begin);
    const open: Block[] = [];
    let next = 0;
    for (const { at, name, block } of places) {
      for (let begun = blocks[next]; begun && begun.begin < at; begun = blocks[next]) {
        open.push(begun);
        next += 1;
      }
      while (open.length > 0 && (open.at(-1)?.end ?? 0) < at) open.pop();
      if ((open.at(-1) ?? null) === block) continue;
      const message = `browsers move ${name} out of its block of Liquid: it is not possible here`;
      throw faultAt(at, message);
    }
  }
}

function parseBounded(text: string, nesting: number, faultAt: FaultAt) {
  let depth = 0;
  let elements = 0;
  const document = parse(text, {
    sourceCodeLocationInfo: true,
    treeAdapter: {
      ...defaultTreeAdapter,
      onItemPush(item) {
        depth += 1;
        elements += 1;
        const at = startOf(item) ?? 0;
        // Does not count `html` and `body`, which the parser adds around each piece.
        if (depth > nesting + 2) {
          throw faultAt(at, `elements are nested more than ${nesting} deep`);
        }
        if (elements > compileLimits.elements) {
          throw faultAt(at, `there are more than ${compileLimits.elements} elements`);
        }
      },
      onItemPop() {
        depth -= 1;
      },
    },
  });
  return { document, elements };
}

function childOf(node: Node, name: string): Element | undefined {
  const children = 'childNodes' in node ? node.childNodes : [];
  return children.find((one): one is Element => 'tagName' in one && one.tagName === name);
}

/**
 * Checks HTML with Liquid hidden in comments. `before` and `after` are the elements around the
 * HTML. @throws TemplateProblem
 */
export function checkTree(
  shields: Shields,
  shielded: ShieldedText,
  { nesting = compileLimits.nesting as number, before = '', after = '' } = {},
): HtmlTree {
  const text = before + shielded.text + after;
  const faultAt: FaultAt = (offset, message) => {
    const { path, line } = placeAt(shielded, Math.max(0, offset - before.length));
    return new TemplateProblem(path, line, message);
  };
  const { document, elements } = parseBounded(text, nesting, faultAt);
  const check = new TreeCheck(shields);
  check.walk(document, faultAt);
  check.checkMoves(faultAt);
  const html = childOf(document, 'html');
  const head = html && childOf(html, 'head');
  const body = html && childOf(html, 'body');
  const doctype = document.childNodes.find(({ nodeName }) => nodeName === '#documentType');
  const [first] = body?.childNodes ?? [];
  const { startOffset = 0, endOffset = 0 } = doctype?.sourceCodeLocation ?? {};
  return {
    elements,
    doctype: text.slice(startOffset, endOffset),
    headAt:
      head?.sourceCodeLocation?.startTag?.endOffset ??
      html?.sourceCodeLocation?.startTag?.endOffset ??
      doctype?.sourceCodeLocation?.endOffset ??
      0,
    bodyAt:
      body?.sourceCodeLocation?.startTag?.endOffset ??
      (first && startOf(first)) ??
      head?.sourceCodeLocation?.endOffset ??
      text.length,
  };
}
