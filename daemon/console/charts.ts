// Charts as SVG, drawn on the server, each with a table for screen readers.
import { html, type Part } from './html.ts';

export interface Bar {
  label: string;
  value: number;
}

const width = 640;
const height = 140;
const gap = 2;

/** Draws bars of equal width, the highest as high as the chart. */
export function barChart(title: string, bars: readonly Bar[]): Part {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = width / Math.max(1, bars.length);
  const shapes = bars.map(({ label, value }, at) => {
    const tall = (value / most) * height;
    return html`<rect class="bar" x=${at * step} y=${height - tall} width=${Math.max(1, step - gap)} height=${tall}>
      <title>${label}: ${value.toLocaleString('en')}</title></rect>`;
  });
  const rows = bars.map(
    ({ label, value }) =>
      html`<tr><th scope="row">${label}</th><td>${value.toLocaleString('en')}</td></tr>`,
  );
  return html`<figure class="chart">
    <figcaption>${title} <small>(highest ${most.toLocaleString('en')})</small></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${title} preserveAspectRatio="none">${shapes}</svg>
    <details><summary>As a table</summary><table><tbody>${rows}</tbody></table></details>
  </figure>`;
}

export interface Step extends Bar {
  limit: number;
}

/** Draws bars below the steps of a limit. */
export function rampChart(title: string, steps: readonly Step[]): Part {
  const most = Math.max(1, ...steps.flatMap(({ value, limit }) => [value, limit]));
  const step = width / Math.max(1, steps.length);
  const topOf = (value: number) => height - (value / most) * height;
  const shapes = steps.map(({ label, value, limit }, at) => {
    const said = `${label}: ${value.toLocaleString('en')} of ${limit.toLocaleString('en')}`;
    return html`<rect class="bar" x=${at * step} y=${topOf(value)} width=${Math.max(1, step - gap)} height=${height - topOf(value)}>
      <title>${said}</title></rect>`;
  });
  const line = steps.flatMap(({ limit }, at) => {
    const y = Math.max(1, topOf(limit));
    return [`${at * step},${y}`, `${(at + 1) * step},${y}`];
  });
  const rows = steps.map(
    ({ label, value, limit }) =>
      html`<tr><th scope="row">${label}</th><td>${value.toLocaleString('en')}</td><td>${limit.toLocaleString('en')}</td></tr>`,
  );
  return html`<figure class="chart">
    <figcaption>${title} <small>(highest ${most.toLocaleString('en')})</small></figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${title} preserveAspectRatio="none">${shapes}
      <polyline class="limit" points=${line.join(' ')} /></svg>
    <details><summary>As a table</summary><table>
      <thead><tr><th scope="col">Day</th><th scope="col">Value</th><th scope="col">Limit</th></tr></thead><tbody>${rows}</tbody></table></details>
  </figure>`;
}

/** Draws a small row of bars. */
export function sparkline(title: string, values: readonly number[]): Part {
  const most = Math.max(1, ...values);
  const tall = 16;
  const wide = 4;
  const bars = values.map((value, at) => {
    const high = (value / most) * tall;
    return html`<rect class="bar" x=${at * wide} y=${tall - high} width=${wide - 1} height=${high} />`;
  });
  return html`<svg class="spark" viewBox=${`0 0 ${values.length * wide} ${tall}`} role="img" aria-label=${`${title}: ${values.join(', ')}`}>${bars}</svg>`;
}
