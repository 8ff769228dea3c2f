// Colours of the style sheet, in both looks: edges of fields and bars of charts differ enough from
// what stands beside them (WCAG 1.4.11: 3:1), and words of states from their ground (1.4.3: 4.5:1).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync('daemon/console/assets/console.css', 'utf8');
const looks = ['light', 'dark'] as const;
const colours = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)].map(
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
  ['edge', 'back', 3],
  ['bar', 'card', 3],
  ['bar-bad', 'card', 3],
  ['bar', 'bar-bad', 3],
  ['good', 'good-tint', 4.5],
  ['bad', 'bad-tint', 4.5],
  ['open', 'warn-tint', 4.5],
  ['link', 'info-tint', 4.5],
  ['soft', 'sunk', 4.5],
  ['text', 'back', 4.5],
];

describe.each(looks)('in the %s look', (look) => {
  it.each(pairs)('%s stands out from %s by %d to 1', (front, ground, least) => {
    const [one = '', next = ''] = [front, ground].map((name) => colours.get(name)?.[look]);
    expect(contrastOf(one, next)).toBeGreaterThanOrEqual(least);
  });
});

it('fields have the edge of the test, and words break only in code and facts', () => {
  expect(css).toMatch(
    /button,\s*input,\s*select,\s*textarea \{[^}]*border: 1px solid var\(--edge\)/,
  );
  const [body = ''] = /^body \{[^}]*\}/m.exec(css) ?? [];
  expect(body).toContain('overflow-wrap: break-word');
});
