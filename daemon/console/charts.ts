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
