// Parts that pages share: tables with their pages, facts of a resource, buttons, times, states.

import type { Right } from '../../src/core/api/route.ts';
import { wallTimeIn } from '../../src/platform/runtime/calendar.ts';
import { Refusal, refusalOf, withQuery } from './api.ts';
import { html, type Part, together, withZone } from './html.ts';
import type { Action, Asked, Form, View } from './page.ts';

/** A page of a list, as the API answers it. */
export interface List<Item> {
  items: readonly Item[];
  pagination?: { page: number; limit: number; total: number; totalPages: number };
  nextCursor?: string | null;
}

/** Column of a table: the head, and the cell of an item. */
export type Column<Item> = readonly [head: string, cell: (item: Item) => Part];

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

/** Returns a value in readable form: times, lists and states are drawn as separate parts. */
export function inWords(value: unknown): Part {
  if (isEmpty(value)) return html`<span class="none">–</span>`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value === 'string') return textInWords(value);
  if (Array.isArray(value)) {
    return value.map((one: unknown) => textOf(one)).join(', ');
  }
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

const longestTitle = 200;

/** Returns the subject of a mail as the title of a page. */
export function titleOfMail(subject: string | null): string {
  return subject?.slice(0, longestTitle) || '(no subject)';
}

/** Draws a rate in percent. */
export function percent(rate: number | null): Part {
  return rate === null ? inWords(null) : `${(rate * 100).toFixed(2)}%`;
}

/** Draws an instant in the time zone of the organization, with UTC on hover. */
export function time(at: string): Part {
  return withZone((timezone) => {
    const shown = wallTimeIn(timezone, Date.parse(at));
    return html`<time datetime=${at} title=${`${at.slice(0, 19).replace('T', ' ')} UTC`}>${shown}</time>`;
  });
}

/** Draws a link to a page of the console. */
export function link(path: string, text: Part): Part {
  return html`<a href=${`/console${path}`}>${text}</a>`;
}

/** Draws a list as a table, with links to further pages. */
export function table<Item>(
  asked: Asked,
  list: List<Item>,
  columns: readonly Column<Item>[],
  empty: Part,
): Part {
  if (list.items.length === 0)
    return together(html`<p class="empty">${empty}</p>`, pager(asked, list));
  return together(
    html`<div class="scroll" tabindex="0" role="region" aria-label=${`Table: ${columns.map(([head]) => head).join(', ')}`}><table>
      <thead><tr>${columns.map(([head]) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${list.items.map(
        (item) => html`<tr>${columns.map(([, cell]) => html`<td>${cell(item)}</td>`)}</tr>`,
      )}</tbody>
    </table></div>`,
    pager(asked, list),
  );
}

function pager({ path, query }: Asked, { pagination, nextCursor }: List<unknown>): Part {
  const to = (changes: Record<string, unknown>) => withQuery('', { ...query, ...changes }) || '?';
  if (nextCursor) {
    return html`<p class="pager"><a href=${`/console${path}${to({ cursor: nextCursor })}`}>Next page</a></p>`;
  }
  if (!pagination) return null;
  const { page, totalPages, total } = pagination;
  const at = (number: number) => `/console${path}${to({ page: number })}`;
  if (page > totalPages && total > 0) {
    const last = html`<a href=${at(totalPages)}>Go to the last page</a>`;
    return html`<p class="pager"><span>The list ends with page ${totalPages}.</span> ${last}</p>`;
  }
  if (totalPages <= 1) return null;
  return html`<p class="pager">
    ${page > 1 && html`<a href=${at(page - 1)} rel="prev">Previous</a>`}
    <span>Page ${page} of ${totalPages}, ${total.toLocaleString('en')} in all</span>
    ${page < totalPages && html`<a href=${at(page + 1)} rel="next">Next</a>`}
  </p>`;
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
  const rows = known.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${inWords(value)}</dd></div>`,
  );
  return html`<dl class="facts">${rows}</dl>`;
}

interface Button {
  action: string;
  label: string;
  fields?: Readonly<Record<string, string>>;
  isFirst?: boolean;
  /** Key of the keyboard that presses the button. */
  key?: string;
}

/** Draws a button that posts an action to the page. */
export function button(
  { formToken }: Asked,
  { action, label, fields = {}, isFirst, key }: Button,
): Part {
  return html`<form method="post" class="action">
    <input type="hidden" name="_form" value=${formToken} />
    <input type="hidden" name="_action" value=${action} />
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    <button class=${isFirst ? 'first' : undefined} data-key=${key} aria-keyshortcuts=${key}>${label}</button>
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
  { formToken }: Asked,
  action: string,
  label: string,
  fields: Part,
  others: readonly Other[] = [],
): Part {
  return html`<form method="post" class="fields">
    <input type="hidden" name="_form" value=${formToken} />
    <input type="hidden" name="_action" value=${action} />
    ${fields}
    <div class="row"><button class="first">${label}</button>
      ${others.map((other) => html`<button name="_action" value=${other.action}>${other.label}</button>`)}</div>
  </form>`;
}

interface Input {
  name: string;
  label: string;
  type?: string;
  value?: string | undefined;
  isRequired?: boolean;
  hint?: string;
  /** Values that the browser suggests. */
  offers?: readonly string[];
  /** Lines of a text area. */
  rows?: number;
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
  const { name, label, type = 'text', value, isRequired, hint, offers, rows = 5 } = input;
  const listId = offers && `offers-${name}`;
  const box =
    type === 'textarea'
      ? html`<textarea name=${name} rows=${rows} required=${isRequired}>${kept(value)}</textarea>`
      : html`<input name=${name} type=${type} value=${value} required=${isRequired} list=${listId} />`;
  return html`<label>${label} ${box}${hint && html`<small>${hint}</small>`}
    ${offers && html`<datalist id=${listId}>${offers.map((one) => html`<option value=${one}></option>`)}</datalist>`}
  </label>`;
}

interface Choice {
  name: string;
  label: string;
  options: readonly string[];
  value?: string | undefined;
  /** Text of the empty choice. */
  empty?: string;
}

/** Draws a choice of a form. The empty choice means any value, unless it has a text of its own. */
export function choice({ name, label, options, value = '', empty = 'any' }: Choice): Part {
  return html`<label>${label} <select name=${name}>
    <option value="">${empty}</option>
    ${options.map((one) => html`<option value=${one} selected=${one === value}>${one}</option>`)}
  </select></label>`;
}

/** Draws a box of a form, which sends `1` or nothing. */
export function check(name: string, label: string, isChecked = false): Part {
  return html`<label><span><input type="checkbox" name=${name} value="1" checked=${isChecked} /> ${label}</span></label>`;
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
 * Returns a typed text, or undefined if only line ends differ: browsers change them. An unchanged
 * text leaves the HTML beside it as it is.
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

/** Runs an action of a form; draws the form again with the error if the API refuses. */
export async function orAgain(
  act: () => Promise<string | View>,
  draw: (problem: Part) => Promise<View> | View,
): Promise<string | View> {
  try {
    return await act();
  } catch (error) {
    const { message, status } = refusalOf(error);
    return {
      ...(await draw(html`<p class="problem" role="alert">${message}</p>`)),
      status,
    };
  }
}

/**
 * Returns an action. If the API refuses it, the form is drawn again with the values and the error.
 * `asks` says before which act a fresh proof is asked for.
 */
export function written(
  needs: Right | null,
  act: (asked: Asked, given: Form) => Promise<string | View>,
  draw: (asked: Asked, given: Form, problem: Part) => Promise<View> | View,
  asks?: string,
): Action {
  return {
    needs,
    ...(asks !== undefined && { asks }),
    run: (asked, given) =>
      orAgain(
        () => act(asked, given),
        (problem) => draw(asked, given, problem),
      ),
  };
}

/** Draws the filters of a list, which are sent as the query. */
export function filters(fields: Part): Part {
  return html`<form method="get" class="filters" role="search">${fields}<button>Filter</button></form>`;
}
