// Lists as tables, with links to further pages. On a phone each row is a card.
import { withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked } from '../page.ts';

/** A page of a list, as the API answers it. */
export interface List<Item> {
  items: readonly Item[];
  pagination?: { page: number; limit: number; total: number; totalPages: number };
  nextCursor?: string | null;
}

interface NamedColumn<Item> {
  head: string;
  cell(item: Item): Part;
  /** Whether the cell is aligned to the right. */
  isNumber?: boolean;
  /** Whether the cell needs no label on a phone, such as a state. */
  isPlain?: boolean;
  /** Whether the cell takes a whole line on a phone; true for the first column by default. */
  isWide?: boolean;
}

/** Column of a table: the head, and the cell of an item. */
export type Column<Item> = NamedColumn<Item> | readonly [head: string, cell: (item: Item) => Part];

function named<Item>(column: Column<Item>, at: number): NamedColumn<Item> {
  const own = 'head' in column ? column : { head: column[0], cell: column[1] };
  return { isWide: at === 0, ...own };
}

const classOf = ({ isNumber, isWide }: NamedColumn<never>) =>
  [isNumber && 'num', isWide && 'wide'].filter(Boolean).join(' ') || undefined;

/** Returns the id of a table on the page: the skip link leads to the first table. */
const listId = (heads: readonly string[]) =>
  ['list', ...heads]
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-');

interface Grouped<Item> {
  /** Words of a line above the items that share them, such as a day. */
  groupOf?(item: Item): string;
}

/** Draws a list as a table. `empty` is drawn for a list without items. */
export function table<Item>(
  asked: Asked,
  list: List<Item>,
  columns: readonly Column<Item>[],
  empty: Part,
  { groupOf }: Grouped<Item> = {},
): Part {
  if (list.items.length === 0) {
    const sentence = typeof empty === 'string' ? emptyState(empty) : empty;
    return together(sentence, pager(asked, list));
  }
  const all = columns.map(named);
  const line = (item: Item, before: Item | undefined) => {
    const words = groupOf?.(item);
    if (words === undefined || (before !== undefined && groupOf?.(before) === words)) return null;
    return html`<tr class="day"><th colspan=${all.length} scope="rowgroup">${words[0]?.toUpperCase()}${words.slice(1)}</th></tr>`;
  };
  const row = (item: Item, at: number) =>
    html`${line(item, list.items[at - 1])}<tr>${all.map(
      (column) =>
        html`<td class=${classOf(column)} data-l=${column.isWide || column.isPlain ? undefined : column.head}>${column.cell(item)}</td>`,
    )}</tr>`;
  const heads = all.map(({ head }) => head);
  return html`<div class="list-box"><div class="scroll" id=${listId(heads)} tabindex="0" role="region" aria-label=${`Table: ${heads.join(', ')}`}><table class="rows">
      <thead><tr>${all.map((column) => html`<th scope="col" class=${column.isNumber ? 'num' : undefined}>${column.head || html`<span class="sr">Change</span>`}</th>`)}</tr></thead>
      <tbody>${list.items.map(row)}</tbody>
    </table></div>${pager(asked, list)}</div>`;
}

/** Draws a sentence in the place of an empty list, and a next step. */
export function emptyState(sentence: Part, action: Part = null): Part {
  return html`<div class="none"><p>${sentence}</p>${action && html`<div class="picks">${action}</div>`}</div>`;
}

/** Draws links to the pages of a list. */
export function pager({ path, query }: Asked, { pagination, nextCursor }: List<unknown>): Part {
  const to = (changes: Record<string, unknown>) =>
    `/console${path}${withQuery('', { ...query, ...changes }) || '?'}`;
  const step = (href: string, rel: string, label: string) =>
    html`<a class="btn" href=${href} rel=${rel}>${label}</a>`;
  if (nextCursor) {
    return html`<nav class="pager" aria-label="Pages"><span class="right">${step(to({ cursor: nextCursor }), 'next', 'Next page')}</span></nav>`;
  }
  if (!pagination) return null;
  const { page, limit, totalPages, total } = pagination;
  if (page > totalPages && total > 0) {
    const last = html`<a href=${to({ page: totalPages })}>Go to the last page</a>`;
    return html`<p class="pager"><span>The list ends with page ${totalPages}.</span> ${last}</p>`;
  }
  if (totalPages <= 1) return null;
  const first = (page - 1) * limit + 1;
  const last = Math.min(total, page * limit);
  return html`<nav class="pager" aria-label="Pages">
    <span>${first.toLocaleString('en')} to ${last.toLocaleString('en')} of ${total.toLocaleString('en')}</span>
    <span class="right">${page > 1 && step(to({ page: page - 1 }), 'prev', 'Previous')}
    ${page < totalPages && step(to({ page: page + 1 }), 'next', 'Next')}</span>
  </nav>`;
}
