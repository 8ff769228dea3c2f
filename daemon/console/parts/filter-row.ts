// The filters of a list as a GET form: a search field, the filters that are set as chips, and all
// others folded.
import { withQuery } from '../api.ts';
import { html, type Part } from '../html.ts';
import type { Asked } from '../page.ts';
import { choice, field, inWords, type Option } from './form.ts';
import { icon } from './icon.ts';

export interface Chip {
  name: string;
  label: string;
  /** Input type of the field; a chip with options is a choice. */
  type?: string;
  options?: readonly Option[];
  value: string | undefined;
  /** Whether the filter is offered only while it is set: only links of pages set it. */
  isLinked?: boolean;
}

interface FilterRow {
  search?: { name: string; label: string };
  chips?: readonly Chip[];
  /** Path below `/console`; the path of the page itself if left out. */
  path?: string;
}

function wordOf({ value = '', options = [] }: Chip): string {
  return options.map(inWords).find(([own]) => own === value)?.[1] ?? value;
}

/** Draws the filters of a list. */
export function filterRow(
  asked: Asked,
  { search, chips = [], path = asked.path }: FilterRow,
): Part {
  const { query } = asked;
  const known = new Set([search?.name, ...chips.map(({ name }) => name), 'page', 'cursor']);
  const other = Object.entries(query).filter(([name]) => !known.has(name));
  const without = (name: string) =>
    `/console${path}${withQuery('', { ...query, [name]: '', page: '', cursor: '' })}`;
  const set = chips.filter(({ value }) => value);
  const inputs = chips.filter(({ isLinked, value }) => !isLinked || value);
  return html`<form method="get" class="search filters" role="search" action=${`/console${path}`}>
    ${other.map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    ${search && html`<input type="search" name=${search.name} value=${query[search.name]} aria-label=${search.label} placeholder=${search.label} />`}
    ${set.map((chip) => html`<a class="chip set" href=${without(chip.name)}>${chip.label}: ${wordOf(chip)} <span aria-hidden="true">✕</span><span class="sr">, remove</span></a>`)}
    ${inputs.length > 0 && more(inputs)}
  </form>`;
}

function more(chips: readonly Chip[]): Part {
  return html`<button type="button" class="btn" popovertarget="more-filters">${icon('filter')} Filters</button>
    <div popover="auto" id="more-filters" role="dialog" aria-labelledby="h-more-filters"><h2 id="h-more-filters">Filter the list</h2>
      <div class="pair">${chips.map(({ name, label, type, options, value }) =>
        options
          ? choice({ name, label, options, value })
          : field({ name, label, value, ...(type && { type }) }),
      )}</div>
      <div class="row"><button type="button" class="btn" popovertarget="more-filters" popovertargetaction="hide">Back</button>
        <button class="btn">Show</button></div>
    </div>`;
}

/** Draws filters of a list that are always visible. */
export function filters(fields: Part): Part {
  return html`<form method="get" class="filters open" role="search">${fields}<button class="btn">Filter</button></form>`;
}
