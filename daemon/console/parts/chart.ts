// Charts as SVG, drawn on the server: columns over time with an axis, bars of shares, and small
// rows of bars. Values stand on hover and on focus, and in a table.
import { html, type Part } from '../html.ts';
import { counted } from './times.ts';

export interface ChartColumn {
  /** The time in words, such as "Mon 23 November". */
  label: string;
  /** The time below the axis, such as "Mon 23". */
  shortLabel: string;
  value: number;
  /** Number of failures, drawn on top of the value. */
  bad?: number;
  /** The value of the period before, or the limit of this column. */
  before?: number;
  /** Path below `/console` that the column leads to. */
  path?: string;
  /** A word above the column, such as the name of a campaign. */
  flag?: string;
}

export interface ColumnChart {
  title: string;
  columns: readonly ChartColumn[];
  /** A line that no column should reach. */
  limit?: number;
  words: { value: string; bad?: string; before?: string };
}

const tall = 180;
const steps = 4;
const mostLabels = 14;

/** Returns the height of a step of the axis: 1, 2, 2.5 or 5 times a power of ten. */
function stepOf(most: number): number {
  const least = Math.max(1, most / steps);
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= least) ?? 10;
  return Math.ceil(factor * power);
}

const sumOf = ({ value, bad = 0 }: ChartColumn) => value + bad;

/** Returns the values of a column with their words. */
function valuesOf({ value, bad, before }: ChartColumn, { words }: ColumnChart): string[] {
  return [
    `${counted(value)} ${words.value}`,
    ...(words.bad !== undefined ? [`${counted(bad ?? 0)} ${words.bad}`] : []),
    ...(words.before !== undefined && before !== undefined
      ? [`${counted(before)} ${words.before}`]
      : []),
  ];
}

/** Draws columns over time. A column with a path is a link. */
export function columnChart(chart: ColumnChart): Part {
  const { title, columns, limit = 0, words } = chart;
  const most = Math.max(limit, ...columns.map((one) => Math.max(sumOf(one), one.before ?? 0)));
  const step = stepOf(most);
  const yOf = (value: number) => tall - (value / (step * steps)) * tall;
  const axis = [4, 3, 2, 1, 0].map((at) => html`<span>${counted(at * step)}</span>`);
  const each = Math.ceil(columns.length / mostLabels);
  return html`<figure><figcaption class="sr">${title}</figcaption>
    <div class="chart"><div class="y" aria-hidden="true">${axis}</div>
    <div class="plot">${columns.map((one) => columnOf(one, chart, yOf))}</div>
    <div class="x" aria-hidden="true">${columns.map(({ shortLabel }, at) => html`<span class=${at % 2 ? 'odd' : undefined}>${at % each === 0 && shortLabel}</span>`)}</div></div>
    <div class="legend"><span><i></i>${words.value}</span>
      ${words.bad && html`<span><i class="no"></i>${words.bad}</span>`}
      ${words.before && html`<span><i class="old"></i>${words.before}</span>`}
      ${asTable(chart)}</div></figure>`;
}

function columnOf(column: ChartColumn, chart: ColumnChart, yOf: (value: number) => number): Part {
  const { label, value, bad = 0, before, path, flag } = column;
  const { limit } = chart;
  const values = valuesOf(column, chart);
  const name = `${label}: ${values.join(', ')}${flag ? `, ${flag}` : ''}`;
  const high = (part: number) => Math.max(part === 0 ? 0 : 2, tall - yOf(part));
  const dash = (kind: string, at: number) =>
    html`<line class=${kind} x1="8" x2="92" y1=${yOf(at)} y2=${yOf(at)} />`;
  const inside = html`<svg viewBox=${`0 0 100 ${tall}`} preserveAspectRatio="none">
      <rect class="ok" x="22" width="56" y=${tall - high(value)} height=${high(value)} />
      ${bad > 0 && html`<rect class="no" x="22" width="56" y=${tall - high(value) - high(bad)} height=${high(bad)} />`}
      ${before !== undefined && dash('old', before)}${limit !== undefined && dash('limit', limit)}</svg>
    ${flag && html`<span class="flag">${flag}</span>`}
    <span class="tip"><b>${label}</b>${values.map((text) => html`<br />${text}`)}</span>`;
  return path === undefined
    ? html`<span class="col" role="img" aria-label=${name} tabindex="0">${inside}</span>`
    : html`<a class="col" href=${`/console${path}`} aria-label=${name}>${inside}</a>`;
}

function asTable(chart: ColumnChart): Part {
  const { words, columns } = chart;
  const heads = [words.value, words.bad, words.before].filter((word) => word !== undefined);
  const row = (column: ChartColumn) => {
    const values = [column.value, words.bad && (column.bad ?? 0), words.before && column.before];
    return html`<tr><th scope="row">${column.label}</th>${values.filter((value) => value !== undefined).map((value) => html`<td class="num">${counted(Number(value))}</td>`)}</tr>`;
  };
  return html`<details><summary>As a table</summary><table>
    <thead><tr><th scope="col">Time</th>${heads.map((head) => html`<th scope="col" class="num">${head}</th>`)}</tr></thead>
    <tbody>${columns.map(row)}</tbody></table></details>`;
}

export interface Bar {
  label: string;
  /** Text behind the label, such as an example. */
  soft?: string;
  value: string | number;
  /** Length of the bar, from 0 to 1. */
  share: number;
  /** Path below `/console` that the bar leads to. */
  path?: string;
}

/** Draws shares as bars below their labels. */
export function bars(all: readonly Bar[]): Part {
  return html`<ul class="hbars">${all.map(({ label, soft, value, share, path }) => {
    const name = path === undefined ? label : html`<a href=${`/console${path}`}>${label}</a>`;
    const figure = typeof value === 'number' ? counted(value) : value;
    return html`<li><span class="hbar"><span>${name}${soft && html` <small>${soft}</small>`}</span><b>${figure}</b>
      <svg viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true"><rect class="t" width="100" height="5" /><rect class="f" width=${Math.min(1, share) * 100} height="5" /></svg></span></li>`;
  })}</ul>`;
}

/** Draws a small row of bars; nothing without values. */
export function sparkline(title: string, values: readonly number[]): Part {
  if (values.length === 0) return null;
  const most = Math.max(1, ...values);
  const [wide, high] = [4, 16];
  const shapes = values.map((value, at) => {
    const y = (value / most) * high;
    return html`<rect class="ok" x=${at * wide} y=${high - y} width=${wide - 1} height=${y} />`;
  });
  return html`<svg class="sparkline" viewBox=${`0 0 ${values.length * wide} ${high}`} role="img" aria-label=${`${title}: ${values.join(', ')}`}>${shapes}</svg>`;
}
