// Reads the elements of an HTML mail as a reader sees them: each text with the element around it,
// and with the reason if it is not seen. The text made from HTML and the mark `hidden-text` use
// only this reader. Takes linear time at any depth of nesting.
import { type Hiding, hidingOfWords, type Looks, looksOf, plainLooks } from './looks.ts';
import { keysOf, type SheetElement } from './selectors.ts';
import { type Declarations, readDeclarations, StyleSheet } from './style-sheet.ts';
import { type Attributes, readTokens } from './tokens.ts';

/** Most open elements, from the innermost, in which the start tag of an end tag is searched. */
const mostSearched = 128;
const mostStyles = 1_000;
/** Depth at which Chrome, Firefox and Safari stop nesting elements. */
const deepest = 512;

export interface ReadElement extends SheetElement {
  attributes: Attributes;
  parent: ReadElement | null;
  /** Last child element so far. */
  lastChild: ReadElement | null;
  looks: Looks;
  frame: Frame | null;
}

/** Part of the mail, such as a quotation. Lines of the part get a prefix in the text. */
export interface Frame {
  /** Text before each line of the part. */
  prefix: string;
}

export interface HtmlReader {
  /** Called with the decoded text between two tags; `hiding` is null if a reader sees it. */
  text(
    words: string,
    hiding: Hiding | null,
    at: { start: number; end: number; element: ReadElement },
  ): void;
  /** Called for a start tag. May set `element.frame`, which inner elements inherit. */
  open?(name: string, attributes: Attributes, element: ReadElement): void;
  close?(name: string): void;
  /** True ends the reading early. */
  isDone?(): boolean;
}

export interface ReadFacts {
  /** Texts that style sheets add to the mail by the property `content`. */
  contents: readonly string[];
  /** True if the style sheets are too large to know which words are seen. */
  isTooLarge: boolean;
  /** True if elements are nested deeper than browsers show. */
  isTooDeep: boolean;
}

const voids = new Set([
  ...[
    'area',
    'base',
    'br',
    'col',
    'embed',
    'hr',
    'img',
    'input',
    'link',
    'meta',
    'param',
    'source',
    'track',
    'wbr',
  ],
]);
/** Elements whose text is not a part of the mail. */
const wordless = new Set(['script', 'style', 'title']);

const names = (words: string) => words.split(' ');
const list = (words: string): ReadonlySet<string> => new Set(names(words));
const blocks =
  'address article aside blockquote center details dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
  'header hr main menu nav ol p pre section table ul';
/**
 * Open elements that a start tag ends (HTML 13.1.2.4). `within`: elements at which the search for
 * the open element stops.
 */
const endedBy = new Map<string, { ends: readonly string[]; within: ReadonlySet<string> }>([
  ...blocks
    .split(' ')
    .map((name) => [name, { ends: names('p'), within: list('td th table button') }] as const),
  ['li', { ends: names('li'), within: list('ul ol table td th') }],
  ...['dt', 'dd'].map(
    (name) => [name, { ends: names('dt dd'), within: list('dl table td th') }] as const,
  ),
  ...['td', 'th'].map((name) => [name, { ends: names('td th'), within: list('table') }] as const),
  ['tr', { ends: names('tr'), within: list('table') }],
  ...['tbody', 'thead', 'tfoot'].map(
    (name) => [name, { ends: names('tbody thead tfoot'), within: list('table') }] as const,
  ),
  ...['option', 'optgroup'].map(
    (name) => [name, { ends: names('option'), within: list('select') }] as const,
  ),
  ['body', { ends: names('head'), within: list('body') }],
]);
const none: ReadonlySet<string> = new Set();
const cells = list('td th table');
const tableParts = list('table tbody thead tfoot tr td th');

/** Tells whether a style for different screens shows an element that is hidden here. */
function isShowing(style: Declarations): boolean {
  const display = style.get('display');
  if (display !== undefined) return display !== 'none';
  const visibility = style.get('visibility');
  if (visibility !== undefined) return visibility === 'visible';
  return ['max-height', 'height', 'font-size', 'opacity'].some(
    (one) => !/^0|^$/.test(style.get(one) ?? ''),
  );
}

const noStyle: Declarations = new Map();

function copy(from: Declarations, to: Declarations): void {
  for (const [name, value] of from) to.set(name, value);
}

function elementOf(name: string, attributes: Attributes, parent: ReadElement | null): ReadElement {
  const previous = parent?.lastChild ?? null;
  const frame = parent?.frame ?? null;
  return { name, attributes, parent, previous, lastChild: null, looks: plainLooks, frame };
}

class Reading {
  readonly #sheet: StyleSheet;
  readonly #reader: HtmlReader;
  readonly #open: ReadElement[] = [];
  /** Number of open elements by name. */
  readonly #counts = new Map<string, number>();
  isTooDeep = false;
  readonly #styles = new Map<string, Declarations>();
  /** The elements `html` and `body` around each mail, which HTML in mail may leave out. */
  readonly #root = elementOf('body', new Map(), elementOf('html', new Map(), null));

  constructor(reader: HtmlReader, sheet: StyleSheet) {
    this.#reader = reader;
    this.#sheet = sheet;
  }

  get #top(): ReadElement {
    return this.#open.at(-1) ?? this.#root;
  }

  open(name: string, attributes: Attributes, isSelfClosing: boolean): void {
    const end = endedBy.get(name);
    if (end) this.#endOpen(end.ends, end.within);
    const parent = this.#top;
    const element = elementOf(name, attributes, parent);
    // Only style rules need siblings, and linked siblings all stay in memory.
    if (!this.#sheet.isEmpty) parent.lastChild = element;
    element.looks = this.#looksOf(element);
    this.#reader.open?.(name, attributes, element);
    if (voids.has(name) || (isSelfClosing && (name.includes(':') || name === 'path'))) return;
    this.#open.push(element);
    this.#count(element, 1);
    this.isTooDeep ||= this.#open.length > deepest;
  }

  isDone(): boolean {
    return this.#reader.isDone?.() === true;
  }

  #looksOf(element: ReadElement): Looks {
    const outer = element.parent?.looks ?? plainLooks;
    const rules = this.#sheet.rulesFor(element);
    const own = element.attributes.get('style');
    if (rules.length === 0 && own === undefined) {
      return looksOf(element.name, element.attributes, noStyle, outer);
    }
    if (rules.length === 0) {
      return looksOf(element.name, element.attributes, this.#declarationsOf(own ?? ''), outer);
    }
    const normal: Declarations = new Map();
    const important: Declarations = new Map();
    const sometimes: Declarations = new Map();
    for (const rule of rules) {
      if (rule.applies === 'unsure') continue;
      const isAlways = rule.applies === 'always';
      copy(rule.normal, isAlways ? normal : sometimes);
      copy(rule.important, isAlways ? important : sometimes);
    }
    const ownImportant: Declarations = new Map();
    readDeclarations(own ?? '', normal, ownImportant);
    copy(important, normal);
    copy(ownImportant, normal);
    const looks = { ...looksOf(element.name, element.attributes, normal, outer) };
    if (sometimes.size > 0 && isShowing(sometimes)) {
      looks.isElsewhere = true;
      if (looks.hiding && !outer.hiding) looks.hiding = 'elsewhere';
    }
    for (const rule of rules) {
      if (rule.applies !== 'unsure') continue;
      const names = [...rule.normal.keys(), ...rule.important.keys()];
      if (names.includes('color')) looks.color = null;
      if (names.some((name) => name.startsWith('background'))) looks.background = null;
    }
    return looks;
  }

  /** Parses a `style` attribute. Cached, since mail repeats a style in each table cell. */
  #declarationsOf(style: string): Declarations {
    const before = this.#styles.get(style);
    if (before) return before;
    const normal: Declarations = new Map();
    const important: Declarations = new Map();
    readDeclarations(style, normal, important);
    copy(important, normal);
    if (this.#styles.size < mostStyles) this.#styles.set(style, normal);
    return normal;
  }

  /**
   * Ends the innermost open element with a name in `ends`, and all elements in it. Does nothing if
   * an element of `within` is nearer.
   */
  #endOpen(ends: readonly string[], within: ReadonlySet<string>): void {
    // Usually no such element is open, so the search is skipped.
    if (!ends.some((name) => this.#counts.get(name))) return;
    const last = Math.max(0, this.#open.length - mostSearched);
    for (let at = this.#open.length - 1; at >= last; at -= 1) {
      const name = this.#open[at]?.name ?? '';
      if (ends.includes(name)) {
        while (this.#open.length > at) this.#count(this.#open.pop(), -1);
        return;
      }
      if (within.has(name)) return;
    }
  }

  #count(element: ReadElement | undefined, change: 1 | -1): void {
    if (element) this.#counts.set(element.name, (this.#counts.get(element.name) ?? 0) + change);
  }

  close(name: string): void {
    this.#reader.close?.(name);
    // An end tag within a cell ends no element around the cell, unless it belongs to the table.
    this.#endOpen([name], tableParts.has(name) ? none : cells);
  }

  text(words: string, start: number, end: number): void {
    const element = this.#top;
    if (wordless.has(element.name)) return;
    this.#reader.text(words, hidingOfWords(element.looks), { start, end, element });
  }
}

/**
 * Passes the elements and texts of the HTML to `reader`. Compares rules of style sheets with
 * elements at most `mostSteps` times; 100,000 steps take up to 100 ms.
 */
export function readHtml(html: string, reader: HtmlReader, mostSteps = 40_000): ReadFacts {
  const sheet = new StyleSheet(mostSteps);
  if (/<style/i.test(html)) readSheets(html, sheet);
  const reading = new Reading(reader, sheet);
  readTokens(html, reading);
  const { contents, isTooLarge } = sheet;
  return { contents, isTooLarge, isTooDeep: reading.isTooDeep };
}

/**
 * Reads all style sheets first, because they also apply to elements before them. Drops rules for
 * elements that the mail lacks.
 */
function readSheets(html: string, sheet: StyleSheet): void {
  const sheets: { css: string; media: string }[] = [];
  const present = new Set(['html', 'body']);
  let media: string | null = null;
  readTokens(html, {
    open(name, attributes) {
      media = name === 'style' ? (attributes.get('media') ?? '') : null;
      for (const key of keysOf({ name, attributes })) present.add(key);
    },
    close() {
      media = null;
    },
    text(css) {
      if (media !== null) sheets.push({ css, media });
    },
  });
  for (const { css, media } of sheets) sheet.add(css, media, present);
}
