// Decides by position and size whether an element shows no word: shut, clipped, transformed, or
// moved out of the window. Pure.
import type { Declarations } from './style-sheet.ts';

/** Largest width or height in pixels of a box that shows no word. */
const slit = 2;
/** Distance in pixels beyond which an element is out of the window. */
const far = 500;
/** Elements that grow with their words, such as table cells. */
const growing = new Set(['table', 'tbody', 'thead', 'tfoot', 'tr', 'td', 'th', 'body', 'html']);

/** Pixels of each unit, for a window that is 600 pixels wide. */
const units: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 37.8,
  mm: 3.78,
  q: 0.94,
  rem: 16,
  vw: 6,
  vh: 6,
  vmin: 6,
  vmax: 6,
  ex: 8,
  ch: 8,
};

/** Converts a length to pixels. `em`: pixels of 1em. `whole`: pixels of 100%. NaN if unreadable. */
export function pixels(value: string | undefined, em: number, whole: number): number {
  const [, digits, unit = ''] =
    /^(?:calc\(\s*)?([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))([a-z%]{0,4})(?:\s*\))?$/.exec(
      value ?? '',
    ) ?? [];
  if (digits === undefined) return Number.NaN;
  const per = unit === 'em' ? em : unit === '%' ? whole / 100 : (units[unit] ?? Number.NaN);
  return Number(digits) * per;
}

/** Tells whether the box of the element is too small to show a word. */
export function isShut(
  name: string,
  style: Declarations,
  fontSize: number,
  lineHeight: number | null,
): boolean {
  const cuts = ['overflow', 'overflow-x', 'overflow-y'].some((one) =>
    /hidden|clip|scroll|auto/.test(style.get(one) ?? ''),
  );
  const isCell = growing.has(name) && !/block|flex|grid/.test(style.get('display') ?? '');
  if (!cuts || isCell) return false;
  const isSmall = (one: string) => pixels(style.get(one), fontSize, 600) <= slit;
  if (['width', 'max-width'].some(isSmall)) return true;
  // A box for pictures of a fixed ratio has a height of 0, but a padding.
  const paddings = ['padding', 'padding-top', 'padding-bottom'].map((one) => style.get(one) ?? '');
  const isPadded = paddings.some((one) => one.match(/[\d.]+/g)?.some((size) => Number(size) > 4));
  if (!isPadded && ['height', 'max-height'].some(isSmall)) return true;
  const indent = style.get('text-indent');
  return (
    (lineHeight !== null && lineHeight <= slit) ||
    (indent?.endsWith('%') === true && Number.parseFloat(indent) >= 100)
  );
}

const functions = /([a-z3]{1,12})\(([^()]*)\)/g;

/** Tells whether a transformation turns, scales or shifts the element out of sight. */
export function isTransformedAway(style: Declarations, em: number): boolean {
  const all = `${style.get('transform') ?? ''} ${style.get('-webkit-transform') ?? ''} scale(${style.get('scale') ?? 1}) translate(${style.get('translate') ?? 0})`;
  for (const [, name = '', inner = ''] of all.matchAll(functions)) {
    const values = inner.trim().split(/[\s,]+/);
    if (
      name.startsWith('scale') &&
      values.slice(0, 2).some((one) => Math.abs(Number.parseFloat(one)) <= 0.1)
    )
      return true;
    if (name.startsWith('translate') && values.some((one) => Math.abs(pixels(one, em, 600)) >= far))
      return true;
    if (/^rotate[xy]$/.test(name) && /^-?(?:90|270)deg$/.test(inner.trim())) return true;
    if (
      name === 'matrix' &&
      (Number(values[0]) === 0 || Number(values[3]) === 0) &&
      Number(values[1]) === 0
    )
      return true;
  }
  const zoom = pixels(style.get('zoom'), 1, 1);
  return zoom > 0 && zoom <= 0.1;
}

/** Tells whether `clip` or `clip-path` clips the whole element. */
export function isClipped(style: Declarations, em: number): boolean {
  const [, inner] = /rect\(([^()]{1,60})\)/.exec(style.get('clip') ?? '') ?? [];
  if (inner !== undefined && /absolute|fixed/.test(style.get('position') ?? '')) {
    const [top = 0, right = 0, bottom = 0, left = 0] = inner
      .trim()
      .split(/[\s,]+/)
      .map((one) => pixels(one, em, 0));
    if (right - left <= slit || bottom - top <= slit) return true;
  }
  const path = style.get('clip-path') ?? style.get('-webkit-clip-path') ?? '';
  const [, shape, values = ''] = /(inset|circle|ellipse|polygon)\(([^()]{1,100})/.exec(path) ?? [];
  const numbers = values.match(/-?[\d.]+/g)?.map(Number) ?? [];
  if (shape === 'inset')
    return values.includes('%') && (numbers[0] ?? 0) + (numbers[2] ?? numbers[0] ?? 0) >= 99;
  return (
    shape !== undefined &&
    (shape === 'polygon' ? numbers.every((one) => one === numbers[0]) : (numbers[0] ?? 1) <= 1)
  );
}

/** Tells whether the element is out of the window. */
export function isMovedAway(style: Declarations, em: number): boolean {
  const length = (name: string, whole = 600) => pixels(style.get(name), em, whole);
  if (/absolute|fixed|relative/.test(style.get('position') ?? '')) {
    if (['left', 'right', 'top', 'bottom', 'inset'].some((one) => length(one) <= -far)) return true;
    if (['left', 'right'].some((one) => length(one) >= 6 * far)) return true;
  }
  const margins = (style.get('margin') ?? '').split(/\s+/).map((one) => pixels(one, em, 0));
  // Layouts with columns use margins of -100%, so percentages count as 0.
  const sides = ['margin-left', 'margin-top', 'margin-right', 'margin-bottom'];
  margins.push(...sides.map((one) => length(one, 0)));
  const indent = length('text-indent');
  return margins.some((one) => one <= -far) || indent <= -far || indent >= 6 * far;
}
