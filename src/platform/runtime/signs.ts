// Visible signs, such as ⟨U+202E⟩, in place of characters that a reader does not see. For pages and
// agents.

/**
 * Matches control characters (except tabs and line ends), direction marks, line separators, and
 * characters without width. Joined emoji are allowed.
 */
export const misleading =
  /(?![\n\r\t])\p{Cc}|(?<!\p{Extended_Pictographic}|\ufe0f)\u200d|(?!\u200d)\p{Cf}|[\p{Zl}\p{Zp}]/gu;

/** Returns the text with signs such as `⟨U+202E⟩` in place of misleading characters. */
export function plainly(text: string): string {
  return text.replace(misleading, (found) => {
    return `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

const sign = /⟨U\+([0-9A-F]{4,6})⟩/g;

/**
 * Returns the original of a text that a page showed with signs: a form sends the shown texts back.
 */
export function withoutSigns(text: string): string {
  return text.replace(sign, (found, hex: string) => {
    const code = Number.parseInt(hex, 16);
    const character = code > 0x10ffff ? found : String.fromCodePoint(code);
    return plainly(character) === found ? character : found;
  });
}
