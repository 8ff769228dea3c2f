// Reads the style sheets of a mail, and finds the rules that apply to an element. Bounded.

import {
  type Applies,
  type Compound,
  fits,
  keysOf,
  keysOfCompound,
  readSelector,
  type SheetElement,
} from './selectors.ts';

/** Values by property, both in lower case. */
export type Declarations = Map<string, string>;

const mostRules = 4_000;
/** Range of the widths of readers' screens, in pixels. */
const usualWidths = { least: 280, most: 2_000 };

interface Rule {
  compounds: readonly Compound[];
  normal: Declarations;
  important: Declarations;
  weight: number;
  applies: Applies;
}

const escapes = /\\(?:([\da-f]{1,6})\s?|([^\n]))/g;
/**
 * Properties that decide whether words are seen. All further properties are dropped, so that an
 * element has few declarations.
 */
const properties = new Set(
  (
    'display visibility opacity filter content-visibility font font-size line-height text-indent zoom color ' +
    '-webkit-text-fill-color background background-color background-image background-clip -webkit-background-clip ' +
    'overflow overflow-x overflow-y width max-width height max-height position left right top bottom inset ' +
    'padding padding-top padding-bottom margin margin-left margin-right margin-top margin-bottom clip clip-path -webkit-clip-path ' +
    'transform -webkit-transform scale translate white-space'
  ).split(' '),
);
/** Longest part of a value that is read, since each element reads it again. */
const longestValue = 500;

/**
 * Reads the declarations of a `style` attribute or of a rule into `normal`; `!important`
 * declarations into `important`.
 */
export function readDeclarations(text: string, normal: Declarations, important: Declarations) {
  const plain = text
    .toLowerCase()
    .replace(/\/\*[\s\S]*?(?:\*\/|$)/g, '')
    .replace(escapes, (_, code?: string, other = '') => {
      const point = code === undefined ? 0 : Number.parseInt(code, 16);
      return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : other;
    });
  for (const one of plain.split(';')) {
    const colon = one.indexOf(':');
    const name = one.slice(0, Math.max(0, colon)).trim();
    if (!properties.has(name)) continue;
    const value = one.slice(colon + 1).trim();
    const bang = value.lastIndexOf('!');
    const isImportant = bang >= 0 && value.slice(bang + 1).trim() === 'important';
    const given = isImportant ? value.slice(0, bang).trim() : value;
    (isImportant ? important : normal).set(name, given.slice(0, longestValue));
  }
}

/** Returns when a condition of `@media` holds: on all usual screens, on some, or on none. */
function holds(condition: string): 'always' | 'sometimes' | 'never' {
  const answers = condition.split(',').map((query) => {
    const text = query.trim();
    if (/^(?:print|speech|tty|tv|projection|not\s+(?:all|screen)\b)/.test(text)) return 'never';
    if (/^(?:only\s+)?(?:all|screen)?$/.test(text)) return 'always';
    const widths = text.matchAll(/(min|max)-(?:device-)?width\s*:\s*([\d.]{1,8})(r?em)?/g);
    for (const [, kind, digits, isEm] of widths) {
      const width = Number(digits) * (isEm ? 16 : 1);
      if (kind === 'min' ? width > usualWidths.most : width < usualWidths.least) return 'never';
      if (kind === 'min' && width < usualWidths.least && !text.includes('max-')) return 'always';
    }
    return 'sometimes';
  });
  return (
    answers.find((one) => one === 'always') ?? answers.find((one) => one === 'sometimes') ?? 'never'
  );
}

export class StyleSheet {
  /** Rules by the id, class or name that their last compound requires. */
  readonly #rules = new Map<string, Rule[]>();
  /** Texts of the property `content`, which most mail programs do not show. */
  readonly contents: string[] = [];
  readonly #mostSteps: number;
  #count = 0;
  #steps = 0;

  constructor(mostSteps: number) {
    this.#mostSteps = mostSteps;
  }

  /** True if the mail has more style than is read, so that the looks are unknown. */
  get isTooLarge(): boolean {
    return this.#steps > this.#mostSteps || this.#count > mostRules;
  }

  /** True if no rule can apply to an element of the mail. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds the rules of a `<style>` element. Skips rules for keys that are not in `present`. */
  add(css: string, media: string, present: ReadonlySet<string>): void {
    const contents = css.matchAll(/content\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)')/gi);
    for (const [, one, other] of contents) this.contents.push(one ?? other ?? '');
    const text = css.toLowerCase().replace(/\/\*[\s\S]*?(?:\*\/|$)|<!--|-->/g, ' ');
    /** Open blocks: when their rules apply, or null for blocks without rules. */
    const open: (Applies | 'never' | null)[] = [holds(media.toLowerCase())];
    let at = 0;
    for (const { index } of text.matchAll(/[{}]/g)) {
      const before = text.slice(at, index).split(';').at(-1)?.trim() ?? '';
      const outer = open.at(-1);
      if (text[index] === '}') {
        if (open.length > 1) open.pop();
      } else if (before.startsWith('@')) {
        const [, rule, condition = ''] = /^@([\w-]+)([\s\S]*)$/.exec(before) ?? [];
        const own = rule === 'media' ? holds(condition) : rule === 'layer' ? 'always' : 'sometimes';
        const isBlock = rule === 'media' || rule === 'supports' || rule === 'layer';
        open.push(
          !isBlock ? null : outer === 'always' ? own : own === 'never' ? own : (outer ?? null),
        );
      } else {
        if (outer === 'always' || outer === 'sometimes') {
          const end = text.indexOf('}', index);
          this.#addRule(before, text.slice(index + 1, end < 0 ? undefined : end), outer, present);
        }
        open.push(null);
      }
      at = index + 1;
    }
  }

  #addRule(selectors: string, body: string, applies: Applies, present: ReadonlySet<string>): void {
    if (this.#count > mostRules || body.includes('{')) return;
    const normal: Declarations = new Map();
    const important: Declarations = new Map();
    readDeclarations(body, normal, important);
    if (normal.size + important.size === 0) return;
    for (const text of selectors.split(',')) {
      const selector = readSelector(text);
      const [keys = []] = selector?.compounds.map(keysOfCompound) ?? [];
      const isPresent = selector?.compounds.every((one) =>
        keysOfCompound(one).every((key) => present.has(key)),
      );
      if (!selector || !isPresent) continue;
      this.#count += 1;
      const [key = '*'] = keys;
      const rules = this.#rules.get(key) ?? [];
      this.#rules.set(key, rules);
      rules.push({
        compounds: selector.compounds,
        normal,
        important,
        weight: selector.specificity * 2 * mostRules + this.#count,
        applies: applies === 'always' ? selector.applies : applies,
      });
    }
  }

  /**
   * Returns the rules that apply to an element, the weakest first; no rules once the steps are used
   * up.
   */
  rulesFor(element: SheetElement): Rule[] {
    if (this.#count === 0 || this.#steps > this.#mostSteps) return [];
    const found = ['*', ...keysOf(element)].flatMap((key) =>
      (this.#rules.get(key) ?? []).filter(({ compounds }) => this.#matches(compounds, 0, element)),
    );
    // Each rule costs a step for each declaration that is copied.
    for (const { normal, important } of found) this.#steps += normal.size + important.size;
    return found.sort((one, other) => one.weight - other.weight);
  }

  #matches(compounds: readonly Compound[], at: number, element: SheetElement): boolean {
    const compound = compounds[at];
    this.#steps += 1;
    if (this.#steps > this.#mostSteps || !compound || !fits(compound, element)) return false;
    const next = compounds[at + 1];
    if (!next) return true;
    // The relation is stored at the compound after it.
    const isAbove = compound.relation === ' ' || compound.relation === '>';
    const isNext = compound.relation === '>' || compound.relation === '+';
    const step = (one: SheetElement) => (isAbove ? one.parent : one.previous);
    for (let one = step(element); one && this.#steps <= this.#mostSteps; one = step(one)) {
      if (this.#matches(compounds, at + 1, one)) return true;
      if (isNext) return false;
    }
    return false;
  }
}
