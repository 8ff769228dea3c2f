// Colours of the style sheet, in both looks: edges of fields and bars of charts differ enough from
// what stands beside them (WCAG 1.4.11: 3:1), and words of states from their ground (1.4.3: 4.5:1).
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { styleOf } from '../../daemon/console/assets.ts';

const css = styleOf();
const folder = 'daemon/console/assets/css';
const looks = ['light', 'dark'] as const;
const colours = new Map(
  [...css.matchAll(/--([\w-]+):light-dark\((#\w{6}),(#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }],
  ),
);

/** Returns the relative luminance of a colour such as `#0b5394` (WCAG 2). */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, next: string): number {
  const [light = 0, dark = 0] = [one, next].map(luminanceOf).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const pairs: readonly [front: string, ground: string, least: number][] = [
  ['edge', 'card', 3],
  ['edge', 'page', 3],
  ['bar', 'card', 3],
  ['bar-bad', 'card', 3],
  ['bar', 'bar-bad', 3],
  ['good', 'good-tint', 4.5],
  ['bad', 'bad-tint', 4.5],
  ['warn', 'warn-tint', 4.5],
  ['accent', 'info-tint', 4.5],
  ['soft', 'page', 4.5],
  ['on-accent', 'accent', 4.5],
  ['bad', 'card', 4.5],
  ['soft', 'sunk', 4.5],
  ['text', 'page', 4.5],
];

describe.each(looks)('in the %s look', (look) => {
  it.each(pairs)('%s stands out from %s by %d to 1', (front, ground, least) => {
    const [one = '', next = ''] = [front, ground].map((name) => colours.get(name)?.[look]);
    expect(contrastOf(one, next)).toBeGreaterThanOrEqual(least);
  });
});

// So the bars measure widths in one look, and search the other look for contrast alone.
it('the looks differ in colours alone', () => {
  expect(css).not.toContain('prefers-color-scheme');
  const pairsOfColours = css.match(/light-dark\(#[\da-f]{6,8},#[\da-f]{6,8}\)/g);
  expect(pairsOfColours).toHaveLength(css.split('light-dark(').length - 1);
});

it('fields have the edge of the test, and words break only in code and facts', () => {
  expect(css).toMatch(/:is\(input,select,textarea\)\{[^}]*border:1px solid var\(--edge\)/);
  const [body = ''] = /}body\{[^}]*\}/m.exec(css) ?? [];
  expect(body).toContain('overflow-wrap:break-word');
  expect(css.match(/[^}]*\{[^{}]*overflow-wrap:anywhere/g)).toHaveLength(1);
});

it('has no text below 12 px, and at most 40 KB in files of fewer than 400 lines', () => {
  const sizes = [...css.matchAll(/font(?:-size)?:[^;}]*?([\d.]+)rem/g)].map(([, size]) =>
    Number(size),
  );
  expect(sizes.length).toBeGreaterThan(20);
  expect(sizes.filter((size) => size < 0.75)).toEqual([]);
  expect(css.length).toBeLessThanOrEqual(40_960);
  for (const name of readdirSync(folder)) {
    const lines = readFileSync(`${folder}/${name}`, 'utf8').split('\n').length;
    expect([name, lines < 400]).toEqual([name, true]);
  }
});
