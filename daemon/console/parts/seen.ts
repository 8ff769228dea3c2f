// Detects that two people change the same values. A form carries hashes of the stored values that
// it was drawn with. If a stored value has changed since, the form is refused once, with the
// present value.
import { createHash } from 'node:crypto';
import { Refusal } from '../api.ts';
import { html, type Part } from '../html.ts';
import type { Asked, Form } from '../page.ts';
import { type Element, elementsIn, isFormOf, propsOf, textOf, within } from './elements.ts';

interface Drawn {
  label: string;
  value: string;
}

const hashCharacters = 8;
const longestShown = 80;
/** Types of inputs that hold no stored value. */
const valueless = ['hidden', 'file', 'password', 'submit'];

const hashOf = (value: string) =>
  createHash('sha256').update(value).digest('base64url').slice(0, hashCharacters);

/** Returns the value of a field; null for any other part. */
function valueIn(node: Element): string | null {
  const { type, value, checked } = propsOf(node);
  if (node.type === 'textarea') return textOf(node);
  if (node.type === 'select') {
    const options = elementsIn(node).filter((one) => one.type === 'option');
    const chosen = options.find((one) => propsOf(one)['selected']) ?? options[0];
    return chosen ? String(propsOf(chosen)['value'] ?? textOf(chosen)) : '';
  }
  if (node.type !== 'input' || valueless.includes(String(type))) return null;
  if (type === 'checkbox' || type === 'radio') return checked ? String(value) : '';
  return String(value ?? '');
}

/** Returns the fields of a form by their names. Values of boxes with the same name are joined. */
function fieldsIn(part: Part): Map<string, Drawn> {
  const found = new Map<string, Drawn>();
  const all = elementsIn(part);
  const labels = new Map(all.filter(({ type }) => type === 'label').flatMap(labelled));
  for (const element of all) {
    const { name } = propsOf(element);
    const value = valueIn(element);
    if (typeof name !== 'string' || value === null) continue;
    const before = found.get(name);
    const label = before?.label ?? labels.get(element) ?? name;
    found.set(name, { label, value: (before?.value ?? '') + value });
  }
  return found;
}

/** Returns the elements of a label, each with the words of the label. */
function labelled(label: Element): (readonly [Element, string])[] {
  const words = textOf(within(label).find((one) => textOf(one).trim() !== '')).trim();
  return words === '' ? [] : elementsIn(label).map((one) => [one, words] as const);
}

function textOfSeen(fields: ReadonlyMap<string, Drawn>): string {
  return JSON.stringify(
    Object.fromEntries([...fields].map(([name, { value }]) => [name, hashOf(value)])),
  );
}

/**
 * Draws the hidden field with the hashes of the stored values of a form. A form that is drawn again
 * with typed values keeps the hashes of the first time.
 */
export function seenField({ seen }: Asked, action: string, fields: Part): Part {
  const text = seen?.action === action ? seen.text : textOfSeen(fieldsIn(fields));
  return html`<input type="hidden" name="_seen" value=${text} />`;
}

function hashesIn(text: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Value hashes for the next drawing of a form, and the refusal; null if no value changed. */
export interface Checked {
  seen: NonNullable<Asked['seen']>;
  refusal: Refusal | null;
}

/**
 * Compares the stored values at the time when a form was drawn with the present values. A field
 * that both people changed to the same value does not count. Returns null for a form without
 * hashes.
 */
export async function checkSeen(asked: Asked, given: Form): Promise<Checked | null> {
  const { _seen: text, _action: action = '' } = given;
  if (text === undefined) return null;
  const page = await asked.drawn();
  const posted = { action, given, isExact: true };
  const forms = 'bytes' in page ? [] : elementsIn(page.body);
  const form = forms.find((one) => isFormOf(one, posted));
  if (!form) return { seen: { action, text }, refusal: null };
  const was = hashesIn(text);
  const fields = fieldsIn(form);
  const changed = [...fields].filter(([name, { value }]) => {
    const isChanged = Object.hasOwn(was, name) && was[name] !== hashOf(value);
    return isChanged && (given[name] ?? '') !== value;
  });
  if (changed.length === 0) return { seen: { action, text }, refusal: null };
  const now = changed.map(([, { label, value }]) => {
    const shown = value.length > longestShown ? `${value.slice(0, longestShown)}…` : value;
    return value === '' ? `${label} is empty now.` : `${label} is “${shown}” now.`;
  });
  const message = `Somebody changed this while you typed, so nothing was saved. ${now.join(' ')} Save again to put yours in its place.`;
  const refusal = new Refusal(409, { _tag: 'ConflictError', message }, '');
  return { seen: { action, text: textOfSeen(fields) }, refusal };
}
