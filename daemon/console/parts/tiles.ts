// Figures of a period, each with its change to the period before.
import { html, type Part } from '../html.ts';
import type { Change } from './times.ts';

export interface Tile {
  label: string;
  value: string;
  change?: Change | undefined;
  /** Line below the figure, such as "765 of 784 tried". */
  below?: Part;
  /** Path below `/console` that the figure leads to. */
  path?: string;
  /** The values of the period, and of the period before. */
  line?: { now: readonly number[]; before?: readonly number[] };
  /** A value beside the limit that it must stay below. */
  meter?: { value: number; limit: number };
}

const [wide, tall] = [100, 28];
/** Position of the limit on the meter, in percent of the length. */
const limitAt = 83.3;

/** Draws figures in a row. */
export function tiles(all: readonly Tile[]): Part {
  return html`<ul class="kpis card">${all.map(tile)}</ul>`;
}

function tile({ label, value, change, below, path, line, meter }: Tile): Part {
  const figure = path === undefined ? value : html`<a href=${`/console${path}`}>${value}</a>`;
  return html`<li><small>${label}</small>
    <div class="v">${figure} ${change && html`<small class=${change.tone}>${change.by}</small>`}</div>
    ${below && html`<small>${below}</small>`}
    ${line && lines(line)}${meter && meterOf(meter)}</li>`;
}

function lines({ now, before = [] }: NonNullable<Tile['line']>): Part {
  const most = Math.max(1, ...now, ...before);
  const shape = (values: readonly number[]) =>
    values
      .map((value, at) => {
        const x = (at / Math.max(1, values.length - 1)) * wide;
        return `${at === 0 ? 'M' : 'L'}${x.toFixed(1)} ${(tall - 2 - (value / most) * (tall - 4)).toFixed(1)}`;
      })
      .join('');
  return html`<svg class="spark" viewBox=${`0 0 ${wide} ${tall}`} preserveAspectRatio="none" aria-hidden="true">
    ${before.length > 1 && html`<path class="old" d=${shape(before)} />`}${now.length > 1 && html`<path d=${shape(now)} />`}</svg>`;
}

function meterOf({ value, limit }: NonNullable<Tile['meter']>): Part {
  const part = limit === 0 ? 0 : value / limit;
  const tone = part >= 1 ? 'bad' : part >= 0.5 ? 'warn' : '';
  const label = `${Math.round(part * 100)} % of the limit`;
  return html`<svg class=${`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="t" width="100" height="6" /><rect class="f" width=${Math.min(wide, part * limitAt)} height="6" />
    <rect class="m" x=${limitAt} width="1.2" height="6" /></svg>`;
}
