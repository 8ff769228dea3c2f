// The look that pages of recipients take from the CSS of a brand: a few colours, the font and the
// corners of buttons. The CSS itself never reaches a page: values are read, checked and written
// anew, so that no rule can hide a button, load a file or leave the style sheet. Colours without
// contrast are left out.

/** Values for the style of a page; null keeps the service's value. */
export interface CssLook {
  back: string | null;
  text: string | null;
  heading: string | null;
  button: { back: string; text: string } | null;
  corners: string | null;
  font: string | null;
}

type Colour = readonly [red: number, green: number, blue: number];
type Declarations = Map<string, string>;

const white: Colour = [255, 255, 255];
const nearBlack: Colour = [17, 20, 24];
/** Least contrast by WCAG 2.1, 1.4.3 (text) and 1.4.11 (buttons). */
const contrastOfText = 4.5;
const contrastOfButtons = 3;

/** Part of the page for each selector. Rules with different selectors are ignored. */
const places: ReadonlyMap<string, 'body' | 'heading' | 'link' | 'button'> = new Map([
  ['body', 'body'],
  ['h1', 'heading'],
  ['a', 'link'],
  ['button', 'button'],
  ['.button', 'button'],
  ['a.button', 'button'],
]);

/** Most matches of `opaque` that are read, each in about 1 µs. The CSS after them is ignored. */
const mostPieces = 20_000;
/**
 * Matches escapes, comments, strings, and the characters that structure rules: braces, semicolons
 * and parentheses. Escapes come first: an escaped quote begins no string.
 */
const opaque =
  /\\[\s\S]|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|[{};()]/g;

/**
 * Calls `found` with the text before each brace and semicolon outside of strings and parentheses.
 */
function walk(css: string, found: (end: string, text: string) => void): void {
  let from = 0;
  let text = '';
  let open = 0;
  let pieces = 0;
  for (const { 0: piece, index } of css.matchAll(opaque)) {
    pieces += 1;
    if (pieces > mostPieces) return;
    text += css.slice(from, index);
    from = index + piece.length;
    if (piece === '(') open += 1;
    if (piece === ')') open = Math.max(0, open - 1);
    if (piece.startsWith('/*')) text += ' ';
    else if (open > 0 || !'{};'.includes(piece)) text += piece;
    else {
      found(piece, text.trim());
      text = '';
    }
  }
}

/**
 * Returns the declarations for each part of the page. Skips nested rules, such as in a media query;
 * the last declaration of a property counts.
 */
function placesIn(css: string): Map<string, Declarations> {
  const all = new Map<string, Declarations>();
  let depth = 0;
  let current: Declarations[] = [];
  walk(css, (end, text) => {
    if (end !== '{') {
      const [, property = '', value = ''] = /^([\w-]+)\s*:([\s\S]*)$/.exec(text) ?? [];
      const shown = value.replace(/!\s*important\s*$/i, '').trim();
      for (const declarations of current) declarations.set(property.toLowerCase(), shown);
    }
    if (end === '{') {
      depth += 1;
      // Nested rules, such as rules of a media query, are left out.
      const names = depth === 1 ? text.split(',') : [];
      current = names.flatMap((name) => {
        const place = places.get(name.trim().toLowerCase());
        if (place === undefined) return [];
        const declarations = all.get(place) ?? new Map();
        all.set(place, declarations);
        return [declarations];
      });
    } else if (end === '}') {
      depth = Math.max(0, depth - 1);
      current = [];
    }
  });
  return all;
}

/** Reads `#rgb`, `#rrggbb`, `rgb(r, g, b)`, `white` and `black`; null for any different value. */
function colourOf(value: string | undefined): Colour | null {
  const text = (value ?? '').toLowerCase();
  if (text === 'white') return white;
  if (text === 'black') return [0, 0, 0];
  const [, hex] = /^#([0-9a-f]{3}|[0-9a-f]{6})$/.exec(text) ?? [];
  if (hex !== undefined) {
    const size = hex.length / 3;
    const part = (at: number) =>
      Number.parseInt(hex.slice(at * size, (at + 1) * size).repeat(size === 1 ? 2 : 1), 16);
    return [part(0), part(1), part(2)];
  }
  const [, ...parts] = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/.exec(text) ?? [];
  const [red = 256, green = 256, blue = 256] = parts.map(Number);
  return Math.max(red, green, blue) > 255 ? null : [red, green, blue];
}

/** Returns the background colour; null if it is missing, or not a plain colour (an image). */
function backOf(declarations: Declarations | undefined): Colour | null {
  const colour = declarations?.get('background-color') ?? declarations?.get('background');
  return colourOf(colour);
}

/** Returns the relative luminance (WCAG 2.1): from 0 for black to 1 for white. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the ratio of contrast of two colours (WCAG 2.1): 1 to 21. */
function contrast(one: Colour, other: Colour): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function hexOf(colour: Colour): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the text colour as `#rrggbb`; null if missing, unreadable, or too pale on white. */
function textOf(declarations: Declarations | undefined): string | null {
  const colour = colourOf(declarations?.get('color'));
  return colour && contrast(colour, white) >= contrastOfText ? hexOf(colour) : null;
}

/**
 * Returns the colours of buttons. Links give the background if buttons have none. Null without a
 * readable background, or if the contrast on white is too low.
 */
function buttonOf(all: ReadonlyMap<string, Declarations>): CssLook['button'] {
  const back = backOf(all.get('button')) ?? colourOf(all.get('link')?.get('color'));
  if (!back || contrast(back, white) < contrastOfButtons) return null;
  const own = colourOf(all.get('button')?.get('color'));
  const [text] = [own ?? white, white, nearBlack].filter(
    (one) => contrast(one, back) >= contrastOfText,
  );
  return text ? { back: hexOf(back), text: hexOf(text) } : null;
}

/** Names of fonts that work only without quotes. */
const genericFonts =
  /^(?:serif|sans-serif|monospace|cursive|fantasy|system-ui|ui-[a-z-]+|-apple-system)$/;
const mostFonts = 8;

/** Returns a `font-family` list with quoted names; null for an unsafe name or above 8 fonts. */
function fontOf(value: string | undefined): string | null {
  const names = (value ?? '').split(',').map((name) => name.trim().replace(/^(["'])(.*)\1$/, '$2'));
  if (names.length > mostFonts || !names.every((name) => /^-?[a-z][\w -]{0,60}$/i.test(name))) {
    return null;
  }
  return names
    .map((name) => (genericFonts.test(name.toLowerCase()) ? name.toLowerCase() : `"${name}"`))
    .join(', ');
}

function cornersOf(value: string | undefined): string | null {
  const length = (value ?? '').toLowerCase();
  return /^(?:0|\d{1,3}(?:\.\d{1,3})?(?:px|r?em))$/.test(length) ? length : null;
}

/** Reads the look of a page from the CSS of a brand. */
export function cssLookOf(css: string): CssLook {
  const all = placesIn(css);
  const [body, heading, button] = [all.get('body'), all.get('heading'), all.get('button')];
  const back = backOf(body);
  return {
    back: back && hexOf(back),
    text: textOf(body),
    heading: textOf(heading),
    button: buttonOf(all),
    corners: cornersOf(button?.get('border-radius')),
    font: fontOf(body?.get('font-family')),
  };
}
