// Colours of a brand as fields. The style sheet keeps them: a changed colour replaces the value in
// its rule, or gets a rule of its own at the end.
import { Refusal } from '../../api.ts';
import { html, type Part } from '../../html.ts';
import type { Form } from '../../page.ts';

interface Colour {
  /** Name of the colour input in the form, and of the field in errors. */
  name: string;
  label: string;
  selector: string;
  properties: readonly string[];
  /** Colour that mail has if the style sheet sets no colour here. */
  usual: string;
  /** Selectors of a new rule; `selector` if left out. */
  writtenAs?: string;
}

const ground = ['background', 'background-color'];
const text = ['color'];

/** Colours that a brand has as fields. */
const colours: readonly Colour[] = [
  { name: 'ground', label: 'Ground', selector: 'body', properties: ground, usual: '#ffffff' },
  { name: 'text', label: 'Text', selector: 'body', properties: text, usual: '#1c1f23' },
  {
    name: 'heading',
    label: 'Headings',
    selector: 'h1',
    properties: text,
    usual: '#1c1f23',
    writtenAs: 'h1, h2, h3',
  },
  { name: 'link', label: 'Links', selector: 'a', properties: text, usual: '#0b57b8' },
  { name: 'button', label: 'Buttons', selector: '.button', properties: ground, usual: '#0b57b8' },
  {
    name: 'buttonText',
    label: 'Text on buttons',
    selector: '.button',
    properties: text,
    usual: '#ffffff',
  },
];

/** Rules with the usual colours, to put before the style sheet of a brand. */
export const usualCss = colours
  .map(({ selector, properties, usual }) => `${selector}{${properties[0]}:${usual}}`)
  .join('');

interface Place {
  from: number;
  to: number;
}

const hex = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;

/** Returns the end of a comment or a quoted text that begins at `at`; `at` where none begins. */
function opaqueEnd(css: string, at: number): number {
  if (css.startsWith('/*', at)) {
    const end = css.indexOf('*/', at + 2);
    return end < 0 ? css.length : end + 2;
  }
  const quote = css[at];
  if (quote !== '"' && quote !== "'") return at;
  let end = at + 1;
  while (end < css.length && css[end] !== quote) end += css[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** Returns the bodies of the rules with this selector outside of rules such as `@media`. */
function bodiesOf(css: string, selector: string): Place[] {
  const found: Place[] = [];
  let depth = 0;
  let start = 0;
  let head = '';
  let body = 0;
  for (let at = 0; at < css.length; at++) {
    const end = opaqueEnd(css, at);
    if (end > at) {
      // Comments are left out of selectors.
      if (depth === 0) start = end;
      at = end - 1;
    } else if (css[at] === '{') {
      if (depth === 0) [head, body] = [css.slice(start, at), at + 1];
      depth += 1;
    } else if (css[at] === '}') {
      depth = Math.max(0, depth - 1);
      if (depth > 0) continue;
      if (head.split(',').some((one) => one.trim() === selector))
        found.push({ from: body, to: at });
      start = at + 1;
    }
  }
  return found;
}

/**
 * Returns the position of the colour that takes effect in a style sheet; null without a hex colour.
 */
function placeOf(css: string, { selector, properties }: Colour): Place | null {
  let found: Place | null = null;
  for (const { from, to } of bodiesOf(css, selector)) {
    let at = from;
    for (const declaration of css.slice(from, to).split(';')) {
      const [name = '', value = ''] = declaration.split(':');
      const begin = at + name.length + 1 + (value.length - value.trimStart().length);
      at += declaration.length + 1;
      if (!properties.includes(name.trim().toLowerCase())) continue;
      const isColour = hex.test(value.trim());
      found = isColour ? { from: begin, to: begin + value.trim().length } : null;
    }
  }
  return found;
}

/** Returns a colour with six digits. */
function long(colour: string): string {
  const lower = colour.toLowerCase();
  return lower.length === 4 ? lower.replaceAll(/[0-9a-f]/g, '$&$&') : lower;
}

function colourIn(css: string, colour: Colour): string | null {
  const place = placeOf(css, colour);
  return place && long(css.slice(place.from, place.to));
}

/** Draws the colours of a style sheet as fields, each with its value. */
export function colourFields(css: string): Part {
  return html`<div class="pair">${colours.map((colour) => {
    const stored = colourIn(css, colour);
    const value = stored ?? colour.usual;
    return html`<label class="field"><span>${colour.label}</span> <span class="row"><input type="color" name=${colour.name} value=${value} /> <code>${stored ?? 'not set'}</code></span></label>`;
  })}</div>`;
}

/**
 * Returns a typed style sheet with the colours that a person changed from the stored ones.
 * @throws Refusal for a text without the form of a colour
 */
export function withColours(stored: string, typed: string, given: Form): string {
  let css = typed;
  for (const colour of colours) {
    const { name, selector, properties, usual, writtenAs = selector } = colour;
    const value = given[name]?.trim() ?? '';
    if (value === '' || long(value) === (colourIn(stored, colour) ?? usual)) continue;
    if (!hex.test(value)) {
      const problem = 'is not a colour such as #14599e';
      throw new Refusal(
        422,
        { message: `${colour.label} ${problem}`, fields: { [name]: [problem] } },
        '',
      );
    }
    const place = placeOf(css, colour);
    css = place
      ? `${css.slice(0, place.from)}${value}${css.slice(place.to)}`
      : `${css.trimEnd()}\n${writtenAs} { ${properties[0]}: ${value} }\n`.trimStart();
  }
  return css;
}
