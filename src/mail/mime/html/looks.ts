// The looks of an element, as far as they decide whether a reader sees its words: from the looks of its parent, its
// attributes, its style and the rules that apply. Pure.
import {
  black,
  type Color,
  colorsIn,
  isNear,
  over,
  readColor,
  readOldColor,
  white,
} from './colors.ts';
import type { Declarations } from './style-sheet.ts';

/**
 * Reason why words are not seen. `folded`: as preheaders are hidden. `moved`: out of sight, or in an element that is
 * never shown. `elsewhere`: other screens show them.
 */
export type Hiding = 'folded' | 'moved' | 'elsewhere';

export interface Looks {
  /** Hides the element with all in it. */
  hiding: Hiding | null;
  isInvisible: boolean;
  /** True if other screens may show what is invisible or too small here. */
  isElsewhere: boolean;
  opacity: number;
  /** In CSS pixels. */
  fontSize: number;
  /** In CSS pixels; null for a usual one. */
  lineHeight: number | null;
  /** Null if it is not known. */
  color: Color | null;
  /** Null if it is not known, as that of a picture. */
  background: Color | null;
}

export const plainLooks: Looks = {
  ...{ hiding: null, isInvisible: false, isElsewhere: false, opacity: 1 },
  ...{ fontSize: 16, lineHeight: null, color: black, background: white },
};

/** Letters up to this size in pixels cannot be read. */
const unreadable = 3;
/** Boxes up to this size in pixels show no word. */
const slit = 2;
/** Distance in pixels that is out of the window. */
const far = 500;
const leastOpacity = 0.06;

/** Elements that no mail program shows, or none but as a form. */
const unseen = new Set(
  'template noscript textarea datalist noembed noframes title style script'.split(' '),
);
/** Cells and tables grow with their words. */
const growing = new Set(['table', 'tbody', 'thead', 'tfoot', 'tr', 'td', 'th', 'body', 'html']);
const headings = new Map(
  Object.entries({
    ...{
      h1: 2,
      h2: 1.5,
      h3: 1.17,
      h5: 0.83,
      h6: 0.67,
      big: 1.2,
      small: 0.83,
      sub: 0.83,
      sup: 0.83,
    },
  }),
);
/** Sizes of `<font size>` 1 to 7. */
const fontSizes = [10, 13, 16, 18, 24, 32, 48];
const sizeWords = new Map(
  Object.entries({
    ...{ 'xx-small': 9, 'x-small': 10, small: 13, medium: 16, large: 18 },
    ...{ 'x-large': 24, 'xx-large': 32 },
  }),
);
const link: Color = [0, 0, 238, 1];
/** Pixels of a unit; the window is 600 wide. */
const units: Readonly<Record<string, number>> = {
  ...{ '': 1, px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 37.8, mm: 3.78, q: 0.94, rem: 16 },
  ...{ vw: 6, vh: 6, vmin: 6, vmax: 6, ex: 8, ch: 8 },
};

/** Returns a length in pixels, with `em` and `%` of the sizes given; NaN for other words. */
function pixels(value: string | undefined, em: number, whole: number): number {
  const [, digits, unit = ''] =
    /^(?:calc\(\s*)?([+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))([a-z%]{0,4})(?:\s*\))?$/.exec(
      value ?? '',
    ) ?? [];
  if (digits === undefined) return Number.NaN;
  const per = unit === 'em' ? em : unit === '%' ? whole / 100 : (units[unit] ?? Number.NaN);
  return Number(digits) * per;
}

function fontSizeOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  style: Declarations,
  outer: number,
) {
  const given = style.get('font-size');
  // The shorthand has its size last before the family, often with a line height.
  const short = /(?:^|\s)(0|[\d.]{1,9}(?:px|pt|r?em|%)|[\d.]{1,9}(?=\/))\s*(?:\/\S+)?\s/.exec(
    style.get('font') ?? '',
  );
  const value = given ?? short?.[1];
  if (value === 'smaller' || value === 'larger')
    return value === 'smaller' ? outer * 0.83 : outer * 1.2;
  const size = sizeWords.get(value ?? '') ?? pixels(value, outer, outer);
  if (!Number.isNaN(size)) return size;
  if (name === 'font') {
    const written = attributes.get('size')?.trim() ?? '';
    const step = /^[+-]/.test(written) ? 3 + Number(written) : Number(written);
    return written === '' ? outer : (fontSizes[Math.min(7, Math.max(1, step)) - 1] ?? outer);
  }
  return outer * (headings.get(name) ?? 1);
}

/** Returns the colour of the words; null if it is not known. */
function colorOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  style: Declarations,
  outer: Color | null,
) {
  const clips =
    style.get('background-clip') ?? style.get('-webkit-background-clip') ?? style.get('background');
  if (/\btext\b/.test(clips ?? '')) return null;
  const value = style.get('-webkit-text-fill-color') ?? style.get('color');
  if (value !== undefined && value !== 'currentcolor') {
    if (/^(?:inherit|unset|revert)/.test(value)) return outer;
    return value === 'initial' ? black : readColor(value);
  }
  const old = attributes.get(name === 'body' ? 'text' : name === 'font' ? 'color' : '');
  if (old !== undefined) return readOldColor(old) ?? outer;
  if (name === 'a' && attributes.has('href')) return link;
  return name === 'mark' || name === 'button' ? black : outer;
}

/** Returns the colour behind the words; null if it is not known. */
function backgroundOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  style: Declarations,
  { background: outer }: Looks,
  color: Color | null,
): Color | null {
  const [short, own, image] = ['background', 'background-color', 'background-image'].map((one) =>
    style.get(one),
  );
  const pictures = image ?? short ?? '';
  if (/url\(|image|var\(/.test(pictures) || attributes.get('background')?.trim()) return null;
  const value = own ?? (/gradient\(/.test(pictures) ? pictures : short);
  if (value === undefined || /gradient\(/.test(pictures)) {
    const [first, ...others] = colorsIn(pictures);
    if (first)
      return others.every((one) => isNear(one, first)) && outer ? over(first, outer) : null;
    if (pictures.includes('gradient(')) return null;
    const old = readOldColor(attributes.get('bgcolor') ?? '');
    if (old) return old;
    return name === 'mark' ? [255, 255, 0, 1] : name === 'button' ? [239, 239, 239, 1] : outer;
  }
  const given = value.includes('currentcolor') ? color : colorsIn(value).at(-1);
  if (given) return given[3] >= 1 ? given : outer && over(given, outer);
  return /^(?:none|initial|inherit|unset|0|)$/.test(value) || !/[a-z]{3}|\(/.test(value)
    ? outer
    : null;
}

/** Tells whether the element shows a slit of its words, or nothing. */
function isShut(
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
  // A box for pictures of one ratio has no height, but a padding.
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

function isTransformedAway(style: Declarations, em: number): boolean {
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

/** Tells whether `clip` or `clip-path` leaves nothing to see. */
function isClipped(style: Declarations, em: number): boolean {
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

/** Tells whether the element lies out of the window. */
function isMovedAway(style: Declarations, em: number): boolean {
  const length = (name: string, whole = 600) => pixels(style.get(name), em, whole);
  if (/absolute|fixed|relative/.test(style.get('position') ?? '')) {
    if (['left', 'right', 'top', 'bottom', 'inset'].some((one) => length(one) <= -far)) return true;
    if (['left', 'right'].some((one) => length(one) >= 6 * far)) return true;
  }
  const margins = (style.get('margin') ?? '').split(/\s+/).map((one) => pixels(one, em, 0));
  // Columns have margins of -100%.
  const sides = ['margin-left', 'margin-top', 'margin-right', 'margin-bottom'];
  margins.push(...sides.map((one) => length(one, 0)));
  const indent = length('text-indent');
  return margins.some((one) => one <= -far) || indent <= -far || indent >= 6 * far;
}

function hidingOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  style: Declarations,
  own: Looks,
): Hiding | null {
  const display = style.get('display');
  if (unseen.has(name) || (name === 'dialog' && !attributes.has('open'))) return 'moved';
  if (display === 'none' || (attributes.has('hidden') && display === undefined)) return 'folded';
  if (style.get('content-visibility') === 'hidden') return 'moved';
  if (own.opacity < leastOpacity) return 'folded';
  if (isClipped(style, own.fontSize) || isMovedAway(style, own.fontSize)) return 'moved';
  if (isTransformedAway(style, own.fontSize)) return 'moved';
  return isShut(name, style, own.fontSize, own.lineHeight) ? 'folded' : null;
}

function opacityOf(style: Declarations): number {
  const own = pixels(style.get('opacity'), 1, 1);
  const [, inner] = /opacity\(([^()]{1,40})\)/.exec(style.get('filter') ?? '') ?? [];
  return (Number.isNaN(own) ? 1 : own) * pixels(inner?.trim() ?? '1', 1, 1);
}

/** Elements whose looks differ from those of their parent without any style. */
const styled = new Set([...unseen, ...headings.keys(), 'a', 'mark', 'button', 'dialog']);

/** Returns the looks of an element within those of its parent. */
export function looksOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  style: Declarations,
  outer: Looks,
): Looks {
  if (style.size === 0 && attributes.size === 0 && !styled.has(name)) return outer;
  const fontSize = fontSizeOf(name, attributes, style, outer.fontSize);
  const line = style.get('line-height') ?? /\/\s*(\S+)/.exec(style.get('font') ?? '')?.[1];
  const lineHeight =
    pixels(line, fontSize, fontSize) * (/^[\d.]+$/.test(line ?? '') ? fontSize : 1);
  const visibility = style.get('visibility');
  const color = colorOf(name, attributes, style, outer.color);
  const looks = {
    hiding: outer.hiding,
    isElsewhere: outer.isElsewhere,
    isInvisible: visibility === undefined ? outer.isInvisible : /hidden|collapse/.test(visibility),
    opacity: outer.opacity * opacityOf(style),
    fontSize,
    lineHeight: Number.isNaN(lineHeight) ? outer.lineHeight : lineHeight,
    color,
    background: backgroundOf(name, attributes, style, outer, color),
  };
  looks.hiding ??= hidingOf(name, attributes, style, looks);
  return looks;
}

/** Returns why words with these looks are not seen; null if they are. */
export function hidingOfWords(looks: Looks): Hiding | null {
  const { hiding, isInvisible, isElsewhere, fontSize, color, background } = looks;
  if (hiding) return hiding;
  if (isInvisible || fontSize <= unreadable) return isElsewhere ? 'elsewhere' : 'folded';
  if (!color || (!background && color[3] >= leastOpacity)) return null;
  if (!background || color[3] < leastOpacity) return 'folded';
  return isNear(over(color, background), background) ? 'folded' : null;
}
