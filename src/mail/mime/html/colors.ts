// Reads colours of CSS and HTML, and decides whether a reader can distinguish two colours. Pure.

/** Red, green and blue from 0 to 255, and the opacity from 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number, alpha: number];

export const white: Color = [255, 255, 255, 1];
export const black: Color = [0, 0, 0, 1];

/** Names of colours: frequent in mail, or near white or black. */
const names = new Map(
  (
    'black 000 white fff gray 808080 grey 808080 silver c0c0c0 red f00 maroon 800000 yellow ff0 olive 808000 ' +
    'lime 0f0 green 008000 aqua 0ff cyan 0ff teal 008080 blue 00f navy 000080 fuchsia f0f magenta f0f purple 800080 ' +
    'orange ffa500 pink ffc0cb gold ffd700 brown a52a2a tomato ff6347 coral ff7f50 crimson dc143c indigo 4b0082 ' +
    'violet ee82ee darkblue 00008b darkgreen 006400 darkred 8b0000 steelblue 4682b4 royalblue 4169e1 ' +
    'dodgerblue 1e90ff skyblue 87ceeb lightblue add8e6 lightgreen 90ee90 midnightblue 191970 slategray 708090 ' +
    'darkslategray 2f4f4f dimgray 696969 dimgrey 696969 darkgray a9a9a9 darkgrey a9a9a9 lightgray d3d3d3 ' +
    'lightgrey d3d3d3 gainsboro dcdcdc whitesmoke f5f5f5 snow fffafa ghostwhite f8f8ff floralwhite fffaf0 ' +
    'ivory fffff0 azure f0ffff mintcream f5fffa honeydew f0fff0 aliceblue f0f8ff seashell fff5ee linen faf0e6 ' +
    'oldlace fdf5e6 lavenderblush fff0f5 lavender e6e6fa cornsilk fff8dc lightyellow ffffe0 lightcyan e0ffff ' +
    'beige f5f5dc antiquewhite faebd7 papayawhip ffefd5 lemonchiffon fffacd mistyrose ffe4e1 khaki f0e68c ' +
    'canvas fff window fff canvastext 000 windowtext 000'
  )
    .split(' ')
    .flatMap((name, at, all) => (at % 2 === 0 ? [[name, all[at + 1] ?? ''] as const] : [])),
);

function ofHex(digits: string): Color | null {
  const size = digits.length < 5 ? 1 : 2;
  const parts = (digits.match(size === 1 ? /./g : /../g) ?? []).map((part) =>
    Number.parseInt(size === 1 ? part + part : part, 16),
  );
  const [red = 0, green = 0, blue = 0, alpha = 255] = parts;
  return parts.length === 3 || parts.length === 4 ? [red, green, blue, alpha / 255] : null;
}

/** Parses a number. A percentage counts of `whole`: `50%` of 255 is 127.5. */
const part = (text: string, whole: number) =>
  text.endsWith('%') ? (Number.parseFloat(text) / 100) * whole : Number.parseFloat(text);

const turns: Readonly<Record<string, number>> = { turn: 360, rad: 180 / Math.PI, grad: 0.9 };

function ofFunction(name: string, inner: string): Color | null {
  const [one = '', two = '', three = '', four = '1'] = inner.trim().split(/[\s,/]+/);
  const alpha = part(four, 1);
  if (name.startsWith('rgb')) return [part(one, 255), part(two, 255), part(three, 255), alpha];
  const hue = Number.parseFloat(one) * (turns[one.replace(/[^a-z]/g, '')] ?? 1);
  const [saturation, light] = [Number.parseFloat(two) / 100, Number.parseFloat(three) / 100];
  const channel = (shift: number) => {
    const at = (shift + hue / 30) % 12;
    const chroma = saturation * Math.min(light, 1 - light);
    return 255 * (light - chroma * Math.max(-1, Math.min(at - 3, 9 - at, 1)));
  };
  return [channel(0), channel(8), channel(4), alpha];
}

/** Parses a CSS colour written in lower case; null for an unknown colour. */
export function readColor(text: string): Color | null {
  if (text === 'transparent') return [0, 0, 0, 0];
  const [, hex, name = '', inner = ''] =
    /^(?:#([\da-f]{3,8})|((?:rgb|hsl)a?)\(([^()]{1,100})\))$/.exec(text) ?? [];
  const named = hex ?? names.get(text);
  const color = named === undefined ? name && ofFunction(name, inner) : ofHex(named);
  return color && !color.some(Number.isNaN) ? color : null;
}

/** Parses the colour of an attribute such as `bgcolor`, without or with `#`; null if unknown. */
export function readOldColor(text: string): Color | null {
  const color = text.trim().toLowerCase();
  return readColor(color) ?? readColor(`#${color}`);
}

/** Cached colours by value: a rule has the same value for each element. */
const known = new Map<string, readonly Color[]>();
const mostKnown = 1_000;

/** Returns all colours in a value such as that of `background`. */
export function colorsIn(value: string): readonly Color[] {
  const before = known.get(value);
  if (before) return before;
  const found = value.match(/#[\da-f]{3,8}\b|(?:rgb|hsl)a?\([^()]{1,100}\)|[a-z]+/g) ?? [];
  const colors = found.flatMap((one) => {
    const color = readColor(one);
    return color ? [color] : [];
  });
  if (known.size >= mostKnown) known.clear();
  known.set(value, colors);
  return colors;
}

/** Returns the colour that is seen when a colour lies over an opaque colour. */
export function over([red, green, blue, alpha]: Color, below: Color): Color {
  const mix = (top: number, bottom: number) => top * alpha + bottom * (1 - alpha);
  return [mix(red, below[0]), mix(green, below[1]), mix(blue, below[2]), 1];
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.slice(0, 3).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Least contrast (WCAG 2.2) of readable words; pale grey #e5e5e5 on white has 1.26. */
const leastContrast = 1.25;
/** Largest difference of a channel (0 to 255) in similar colours; yellow and white differ more. */
const nearChannels = 48;

/** Tells whether words in the first colour are unreadable on the second colour. */
export function isNear(one: Color, other: Color): boolean {
  if ([0, 1, 2].some((at) => Math.abs((one[at] ?? 0) - (other[at] ?? 0)) > nearChannels))
    return false;
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05) < leastContrast;
}
