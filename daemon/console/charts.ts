// Charts as SVG, drawn on the server, each with a table for screen readers.
import { html, type Part } from './html.ts';

export interface Bar {
  label: string;
  value: number;
}

/** A bar, and the limit that is drawn as a step above it. */
export interface Step extends Bar {
  limit: number;
}

/** A bar with a bad part on top. */
export interface Stack extends Bar {
  bad: number;
}

const width = 640;
const height = 140;
const gap = 2;

const counted = (value: number) => value.toLocaleString('en');

interface Drawn<Item extends Bar> {
  title: string;
  items: readonly Item[];
  /** Headings of the columns after the label, and the value of an item in each column. */
  columns: Readonly<Record<string, (item: Item) => number>>;
  /** Draws an item; `heightOf` scales a value to the chart. */
  shape(item: Item, x: number, wide: number, heightOf: (value: number) => number): Part;
  most: number;
}

function figure<Item extends Bar>({ title, items, columns, shape, most }: Drawn<Item>): Part {
  const highest = Math.max(1, most);
  const step = width / Math.max(1, items.length);
  const heightOf = (value: number) => (value / highest) * height;
  const heads = Object.keys(columns);
  const rows = items.map(
    (item) =>
      html`<tr><th scope="row">${item.label}</th>${heads.map((head) => html`<td>${counted(columns[head]?.(item) ?? 0)}</td>`)}</tr>`,
  );
  return html`<figure class="chart">
    <figcaption>${title} <small>(highest ${counted(highest)})</small></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${title} preserveAspectRatio="none">${items.map(
      (item, at) =>
        html`<g>${shape(item, at * step, Math.max(1, step - gap), heightOf)}
          <title>${item.label}: ${heads.map((head) => `${counted(columns[head]?.(item) ?? 0)} ${head}`).join(', ')}</title></g>`,
    )}</svg>
    <details><summary>As a table</summary><table>
      <thead><tr><th scope="col">Time</th>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows}</tbody></table></details>
  </figure>`;
}

function bar(x: number, y: number, wide: number, tall: number, kind = 'bar'): Part {
  return html`<rect class=${kind} x=${x} y=${y} width=${wide} height=${tall} />`;
}

const highestOf = (items: readonly Bar[], of: (item: never) => number) =>
  items.reduce((most, item) => Math.max(most, of(item as never)), 0);

/** Draws bars of equal width. `unit` names the values. */
export function barChart(title: string, items: readonly Bar[], unit = 'emails'): Part {
  return figure({
    title,
    items,
    columns: { [unit]: ({ value }) => value },
    most: highestOf(items, ({ value }: Bar) => value),
    shape: ({ value }, x, wide, heightOf) =>
      bar(x, height - heightOf(value), wide, heightOf(value)),
  });
}

/** Draws bars with a bad part on top. */
export function stackedBars(title: string, items: readonly Stack[], words: [string, string]): Part {
  return figure({
    title,
    items,
    columns: { [words[0]]: ({ value }) => value, [words[1]]: ({ bad }) => bad },
    most: highestOf(items, ({ value, bad }: Stack) => value + bad),
    shape: ({ value, bad }, x, wide, heightOf) => [
      bar(x, height - heightOf(value), wide, heightOf(value)),
      bar(x, height - heightOf(value + bad), wide, heightOf(bad), 'bar bad'),
    ],
  });
}

/** Draws bars below the steps of a limit. */
export function rampChart(title: string, items: readonly Step[]): Part {
  return figure({
    title,
    items,
    columns: { recipients: ({ value }) => value, allowance: ({ limit }) => limit },
    most: highestOf(items, ({ value, limit }: Step) => Math.max(value, limit)),
    shape: ({ value, limit }, x, wide, heightOf) => [
      bar(x, height - heightOf(value), wide, heightOf(value)),
      bar(x, height - heightOf(limit), wide, 2, 'limit'),
    ],
  });
}

/** Draws a small row of bars; nothing without values. */
export function sparkline(title: string, values: readonly number[]): Part {
  if (values.length === 0) return null;
  const most = Math.max(1, ...values);
  const tall = 16;
  const wide = 4;
  const bars = values.map((value, at) => {
    const high = (value / most) * tall;
    return bar(at * wide, tall - high, wide - 1, high);
  });
  return html`<svg class="spark" viewBox=${`0 0 ${values.length * wide} ${tall}`} role="img" aria-label=${`${title}: ${values.join(', ')}`}>${bars}</svg>`;
}
