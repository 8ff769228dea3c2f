// Signs in place of characters that a reader does not see, such as ⟨U+202E⟩: for pages and for
// agents.

/** Controls, marks of direction, and characters without a width; emoji may be joined. */
export const misleading =
  /(?![\n\r\t])\p{Cc}|(?<!\p{Extended_Pictographic}|\ufe0f)\u200d|(?!\u200d)\p{Cf}|[\p{Zl}\p{Zp}]/gu;

/** Returns the text with signs such as `⟨U+202E⟩` for misleading characters. */
export function plainly(text: string): string {
  return text.replace(misleading, (found) => {
    return `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

const sign = /⟨U\+([0-9A-F]{4,6})⟩/g;

/**
 * Returns the text that a page showed with signs: a form sends back the shown contents of the
 * fields.
 */
export function meant(text: string): string {
  return text.replace(sign, (found, hex: string) => {
    const code = Number.parseInt(hex, 16);
    const character = code > 0x10ffff ? found : String.fromCodePoint(code);
    return plainly(character) === found ? character : found;
  });
}
