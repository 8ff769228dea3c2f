// Computes the looks of an element (size, colours, opacity, …), and from the looks whether a reader
// sees the words. Looks follow from the parent, the attributes, the style and the matching rules.
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
import { isClipped, isMovedAway, isShut, isTransformedAway, pixels } from './places.ts';
import type { Declarations } from './style-sheet.ts';

/**
 * Reason why words are not seen. `folded`: hidden in the way of preheaders. `moved`: out of sight,
 * or in an element that is never shown. `elsewhere`: shown only on other screens.
 */
export type Hiding = 'folded' | 'moved' | 'elsewhere';

export interface Looks {
  /** Reason why the element and all elements in it are hidden; null if they are not. */
  hiding: Hiding | null;
  isInvisible: boolean;
  /** True if words that are invisible or too small here may be shown on different screens. */
  isElsewhere: boolean;
  opacity: number;
  /** Font size in CSS pixels. */
  fontSize: number;
  /** Line height in CSS pixels; null for the default height. */
  lineHeight: number | null;
  /** Colour of the words; null if unknown. */
  color: Color | null;
  /** Colour behind the words; null if unknown, for example on a picture. */
  background: Color | null;
  /** True if white space and line ends are shown as written. */
  isPreformatted: boolean;
}

export const plainLooks: Looks = {
  hiding: null,
  isInvisible: false,
  isElsewhere: false,
  opacity: 1,
  fontSize: 16,
  lineHeight: null,
  color: black,
  background: white,
  isPreformatted: false,
};

/** Largest font size in pixels that cannot be read. */
const unreadable = 3;
const leastOpacity = 0.06;

/** Elements that mail programs never show, or show only as part of a form. */
const unseen = new Set(
  'template noscript textarea datalist noembed noframes title style script'.split(' '),
);
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
/** Pixels of `<font size>` 1 to 7. */
const fontSizes = [10, 13, 16, 18, 24, 32, 48];
const sizeWords = new Map(
  Object.entries({
    'xx-small': 9,
    'x-small': 10,
    small: 13,
    medium: 16,
    large: 18,
    'x-large': 24,
    'xx-large': 32,
  }),
);
const link: Color = [0, 0, 238, 1];
function fontSizeOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  style: Declarations,
  outer: number,
) {
  const given = style.get('font-size');
  // In the shorthand `font`, the size precedes the family, often with a line height.
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

/** Returns the colour of the words; null if unknown. */
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

/** Returns the colour behind the words; null if unknown. */
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

function isPreformatted(name: string, style: Declarations, outer: Looks): boolean {
  const value = style.get('white-space');
  if (value !== undefined && value !== 'inherit') return /^(?:pre|break-spaces)/.test(value);
  return name === 'pre' || outer.isPreformatted;
}

/** Elements that differ from their parent in looks even without a style. */
const styled = new Set([...unseen, ...headings.keys(), 'a', 'mark', 'button', 'dialog', 'pre']);

/** Returns the looks of an element; `outer` are the looks of the parent. */
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
    isPreformatted: isPreformatted(name, style, outer),
  };
  looks.hiding ??= hidingOf(name, attributes, style, looks);
  return looks;
}

/** Cached answers of `hidingOfWords`: many texts share their looks. */
const known = new WeakMap<Looks, Hiding | null>();

/** Returns the reason why words with these looks are not seen; null if they are seen. */
export function hidingOfWords(looks: Looks): Hiding | null {
  const before = known.get(looks);
  if (before !== undefined) return before;
  const hiding = findHiding(looks);
  known.set(looks, hiding);
  return hiding;
}

function findHiding(looks: Looks): Hiding | null {
  const { hiding, isInvisible, isElsewhere, fontSize, color, background } = looks;
  if (hiding) return hiding;
  if (isInvisible || fontSize <= unreadable) return isElsewhere ? 'elsewhere' : 'folded';
  if (!color || (!background && color[3] >= leastOpacity)) return null;
  if (!background || color[3] < leastOpacity) return 'folded';
  return isNear(over(color, background), background) ? 'folded' : null;
}
