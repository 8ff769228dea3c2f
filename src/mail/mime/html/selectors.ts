// Reads CSS selectors, and tells whether an element matches. Pure.

interface Attributed {
  name: string;
  attributes: ReadonlyMap<string, string>;
}

/** An element and the neighbours that selectors depend on. */
export interface SheetElement extends Attributed {
  parent: SheetElement | null;
  previous: SheetElement | null;
}

interface WantedAttribute {
  name: string;
  operator: string;
  value: string;
}

/** Part of a selector that describes a single element. */
export interface Compound {
  name: string;
  id: string;
  classes: string[];
  attributes: WantedAttribute[];
  /** Relation to the preceding compound: space, `>`, `+` or `~`. */
  relation: string;
}

/**
 * When a rule applies. `sometimes`: on different screens, or when a reader acts. `unsure`: only a
 * browser can tell.
 */
export type Applies = 'always' | 'sometimes' | 'unsure';

export interface Selector {
  /** Compounds in reverse order, the last first. */
  compounds: Compound[];
  specificity: number;
  applies: Applies;
}

const token =
  /(?<relation>[>+~])|(?<space>\s+)|(?<mark>[.#])(?<word>(?:[\w-]|[^\0-\x7f])+)|\[(?<attribute>[^\]]*)\]|(?<colons>::?)(?<pseudo>[\w-]+)(?:\([^()]*\))?|(?<name>[\w-]+|\*)|[\s\S]/g;
const acts = /^(?:hover|active|focus\S*|target|checked)$/;
const never = /^(?:visited|-\S+|before|after|first-l\S+|selection|placeholder|marker)$/;

function wantedOf(text: string): WantedAttribute {
  const [, name = text, operator = '', quoted = ''] =
    /^([\w-]+)\s*([~|^$*]?=)([\s\S]*)$/.exec(text) ?? [];
  const value = quoted
    .trim()
    .replace(/["']\s*i$/, '')
    .replace(/["']/g, '');
  return { name, operator, value };
}

/**
 * Reads a selector in lower case; null for a selector that matches nothing in a mail that was just
 * opened.
 */
export function readSelector(text: string): Selector | null {
  let last: Compound = { name: '', id: '', classes: [], attributes: [], relation: ' ' };
  const compounds = [last];
  let specificity = 0;
  let isUnsure = false;
  let acting: Compound | null = null;
  for (const { groups = {} } of text.trim().matchAll(token)) {
    const { relation, space, mark, word = '', attribute, pseudo, colons, name } = groups;
    const isBegun = last.name + last.id !== '' || last.classes.length + last.attributes.length > 0;
    if (relation !== undefined || space !== undefined) {
      if (isBegun) {
        last = { name: '', id: '', classes: [], attributes: [], relation: ' ' };
        compounds.unshift(last);
      }
      last.relation = relation ?? last.relation;
    } else if (mark === '#') {
      last.id = word;
      specificity += 10_000;
    } else if (mark === '.') {
      last.classes.push(word);
      specificity += 100;
    } else if (attribute !== undefined) {
      last.attributes.push(wantedOf(attribute.trim()));
      specificity += 100;
    } else if (pseudo !== undefined) {
      if (colons === '::' || never.test(pseudo)) return null;
      if (acts.test(pseudo)) acting = last;
      else isUnsure ||= !/^(?:root|link|any-link)$/.test(pseudo);
      if (!isBegun) last.name = pseudo === 'root' ? 'html' : '*';
    } else if (name !== undefined) {
      last.name = name;
      specificity += name === '*' ? 0 : 1;
    } else return null;
  }
  // A rule with `:hover` on the element itself: readers cannot act on unseen elements.
  if (acting === last) return null;
  const applies = acting ? 'sometimes' : isUnsure ? 'unsure' : 'always';
  return { compounds, specificity, applies };
}

/** Longest part of an attribute that is compared, since each rule reads it again. */
const longestValue = 500;
const attributeOf = ({ attributes }: Attributed, name: string) =>
  attributes.get(name)?.slice(0, longestValue).toLowerCase();

const idOf = (element: Attributed) => attributeOf(element, 'id') ?? '';
const classesOf = (element: Attributed) => (attributeOf(element, 'class') ?? '').split(/\s+/);

/** Returns the keys of an element: the name, `#` with the id, and each class after a dot. */
export function keysOf(element: Attributed): Set<string> {
  const classes = classesOf(element).map((one) => `.${one}`);
  return new Set([element.name, `#${idOf(element)}`, ...classes]);
}

/** Returns the keys that an element needs to match a compound: the id or a class first. */
export function keysOfCompound({ name, id, classes }: Compound): string[] {
  const keys = [id && `#${id}`, ...classes.map((one) => `.${one}`), name === '*' ? '' : name];
  return keys.filter((one) => one !== '');
}

function hasAttribute(element: SheetElement, { name, operator, value }: WantedAttribute): boolean {
  const held = attributeOf(element, name);
  if (held === undefined || operator === '') return held !== undefined;
  if (operator === '=') return held === value;
  if (operator === '~=') return held.split(/\s+/).includes(value);
  if (operator === '|=') return held === value || held.startsWith(`${value}-`);
  if (value === '') return false;
  if (operator === '^=') return held.startsWith(value);
  return operator === '$=' ? held.endsWith(value) : held.includes(value);
}

/** Tells whether an element matches a compound, regardless of neighbours. */
export function fits({ name, id, classes, attributes }: Compound, element: SheetElement): boolean {
  if (name !== '' && name !== '*' && name !== element.name) return false;
  if (id !== '' && idOf(element) !== id) return false;
  if (classes.length > 0) {
    const held = classesOf(element);
    if (!classes.every((one) => held.includes(one))) return false;
  }
  return attributes.every((one) => hasAttribute(element, one));
}
