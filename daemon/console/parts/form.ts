// Forms that post an action: buttons, fields, and values that a person typed.
import { Refusal } from '../api.ts';
import { html, type Part } from '../html.ts';
import type { Asked } from '../page.ts';
import { states } from '../states.ts';
import { seenField } from './seen.ts';

interface Button {
  action: string;
  label: Part;
  fields?: Readonly<Record<string, string>>;
  isFirst?: boolean;
  /** Key of the keyboard that presses the button. */
  key?: string;
  /** Path below `/console` of the page that has the action; this page if left out. */
  path?: string;
  /** Further classes, such as `plain`. */
  look?: string;
}

/** Draws the hidden fields of a form that posts an action. */
export function hidden(
  { formToken }: Pick<Asked, 'formToken'>,
  action: string,
  fields: Readonly<Record<string, string>> = {},
): Part {
  return hiddenFields({ _form: formToken, _action: action, ...fields });
}

const hiddenFields = (fields: Readonly<Record<string, string>>): Part =>
  Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name=${name} value=${value} />`,
  );

/** Draws a button that posts values to a path below `/console`. */
export function posting(
  { formToken }: Pick<Asked, 'formToken'>,
  path: string,
  fields: Readonly<Record<string, string>>,
  label: Part,
  look = '',
): Part {
  return html`<form method="post" class="action" action=${`/console${path}`}>
    ${hiddenFields({ _form: formToken, ...fields })}<button class=${`btn ${look}`.trim()}>${label}</button></form>`;
}

/** Draws a button that posts an action to the page. */
export function button(
  asked: Asked,
  { action, label, fields, isFirst, key, path, look = '' }: Button,
): Part {
  const classes = `btn ${isFirst ? 'first' : ''} ${look}`.trim();
  return html`<form method="post" class="action" action=${path && `/console${path}`}>
    ${hidden(asked, action, fields)}
    <button class=${classes} data-key=${key} aria-keyshortcuts=${key}>${label}</button>
  </form>`;
}

interface Other {
  action: string;
  label: string;
}

/**
 * Draws a form that posts an action with these fields. `others` are further buttons that post the
 * same fields.
 */
export function form(
  asked: Asked,
  action: string,
  label: string,
  fields: Part,
  others: readonly Other[] = [],
): Part {
  return html`<form method="post" class="fields">
    ${hidden(asked, action)}
    ${seenField(asked, action, fields)}
    ${fields}
    <div class="row"><button class="btn first">${label}</button>
      ${others.map((other) => html`<button class="btn" name="_action" value=${other.action}>${other.label}</button>`)}</div>
  </form>`;
}

interface Input {
  name: string;
  label: string;
  type?: string;
  value?: string | undefined;
  isRequired?: boolean;
  hint?: Part;
  /** Values that the browser suggests. */
  offers?: readonly string[];
  /** Lines of a text area. */
  rows?: number;
  /** Step of a number; if left out, only whole numbers are valid. */
  step?: string;
}

/**
 * Returns a text for a text area. HTML drops the first line break of a text area, so a leading line
 * break is doubled.
 */
function kept(text = ''): string {
  return text.startsWith('\n') ? `\n${text}` : text;
}

/** Draws a field of a form. */
export function field(input: Input): Part {
  const { name, label, type = 'text', value, isRequired, hint, offers, rows = 5, step } = input;
  const listId = offers && `offers-${name}`;
  const box =
    type === 'textarea'
      ? html`<textarea name=${name} rows=${rows} required=${isRequired}>${kept(value)}</textarea>`
      : html`<input name=${name} type=${type} value=${value} required=${isRequired} list=${listId} step=${step} />`;
  return html`<label class="field"><span>${label}</span> ${box}${hint && html`<small>${hint}</small>`}
    ${offers && html`<datalist id=${listId}>${offers.map((one) => html`<option value=${one}></option>`)}</datalist>`}
  </label>`;
}

/**
 * A value of a choice. Without a word, people read the word of the value in `states`, else the
 * value.
 */
export type Option = string | readonly [value: string, word: string];

/** Returns a value with the word that people read: states have the words of their pills. */
export function inWords(option: Option): readonly [value: string, word: string] {
  if (typeof option !== 'string') return option;
  return [option, (Object.hasOwn(states, option) && states[option]?.[0]) || option];
}

interface Choice {
  name: string;
  label: string;
  options: readonly Option[];
  value?: string | undefined;
  /** Text of the empty choice. */
  empty?: string;
  /**
   * Whether the choice is in a table: the column head is the label, and a change sends the form.
   */
  isInTable?: boolean;
}

/** Draws a choice of a form. The empty choice means any value, unless it has a text of its own. */
export function choice(choice: Choice): Part {
  const { name, label, options, value = '', empty = 'any', isInTable } = choice;
  return html`<label class="field"><span class=${isInTable && 'sr'}>${label}</span> <select name=${name} data-sends=${isInTable && ''}>
    <option value="">${empty}</option>
    ${options.map(inWords).map(([own, word]) => html`<option value=${own} selected=${own === value}>${word}</option>`)}
  </select></label>`;
}

/** Draws a box of a form, which sends `1` or nothing. */
export function check(name: string, label: string, isChecked = false): Part {
  return html`<label class="check"><input type="checkbox" name=${name} value="1" checked=${isChecked} /> <span>${label}</span></label>`;
}

/** Reads JSON that a person typed; null for an empty text. @throws Refusal that names the field */
export function jsonIn(text = '', label: string): object | null {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, { message: `${label} is not JSON: ${(error as Error).message}` }, '');
  }
}

/**
 * Returns a typed text; undefined if it differs only in line ends, which browsers change, or in
 * space at the end. The HTML beside an unchanged text then stays as it is.
 */
export function changedText(before: string | null, typed: string): string | undefined {
  const plain = (text: string) => text.replace(/\r\n?/g, '\n').trimEnd();
  return plain(before ?? '') === plain(typed) ? undefined : typed;
}

/** Splits a list of addresses at the commas. */
export function addressesIn(text = ''): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
