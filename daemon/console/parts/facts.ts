// Facts of a resource: names and values in readable form.
import { html, type Part } from '../html.ts';
import { counted, time } from './times.ts';

/** Returns the value at a dotted path of a resource. */
function valueAt(item: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => {
    return typeof at === 'object' && at !== null
      ? (at as Record<string, unknown>)[name]
      : undefined;
  }, item);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || isEmptyList(value);
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

const id = /^[a-z]{2,20}_[0-9a-hjkmnp-tv-z]{16,26}$/;
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/**
 * Draws a value in readable form: a dash without a value, yes or no, numbers, times, ids, lists.
 */
export function inWords(value: unknown): Part {
  if (isEmpty(value)) return html`<span class="soft">–</span>`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return counted(value);
  if (typeof value === 'string') return textInWords(value);
  if (Array.isArray(value)) return value.map((item: unknown) => textOf(item)).join(', ');
  return textOf(value);
}

/** Draws an instant, an id to copy, or a text. */
function textInWords(text: string): Part {
  if (iso.test(text)) return time(text);
  return id.test(text) ? html`<code data-copy="">${text}</code>` : text;
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { email, identifier, name } = value as Record<'email' | 'identifier' | 'name', unknown>;
  return String(email ?? identifier ?? name ?? JSON.stringify(value));
}

/** Draws the facts of a resource: names and dotted paths. Facts without a value are left out. */
export function facts(
  item: unknown,
  fields: readonly (readonly [name: string, path: string])[],
): Part {
  const known = fields
    .map(([name, path]) => [name, valueAt(item, path)] as const)
    .filter(([, value]) => !isEmpty(value));
  if (known.length === 0) return null;
  const rows = known.map(([name, value]) => html`<dt>${name}</dt><dd>${inWords(value)}</dd>`);
  return html`<dl class="facts">${rows}</dl>`;
}
