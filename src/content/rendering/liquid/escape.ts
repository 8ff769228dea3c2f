// Escaping of values by their place in HTML, and detection of addresses that could run code. Pure.

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** Escapes for HTML text and for attributes in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/**
 * Escapes for attributes without quotes and for names: there a space or `=` would begin a new
 * attribute.
 */
export function escapeUnquoted(text: string): string {
  return text.replace(/[^\w.\u0080-\uffff-]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Characters that browsers ignore in the scheme of an address, and invisible characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers leave them out too.
const ignored = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;
const named: Record<string, string> = {
  amp: '&',
  colon: ':',
  newline: '',
  tab: '',
  nbsp: '',
  shy: '',
  zwnj: '',
};
const mostCharacters = 2000;
/** Length of the longest refused scheme, plus 1. */
const schemeLength = 11;

/** Removes the characters that browsers ignore in the scheme of an address. */
export function withoutIgnored(text: string): string {
  return text.replace(ignored, '');
}

/** Decodes the entities that may hide an address. The last entity may lack the semicolon. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|colon|newline|tab|nbsp|shy|zwnj));?/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

/**
 * Returns the scheme of an address that runs code or contains a document: `javascript`, `vbscript`
 * or `data`; null for a different address. If a colon may still follow, the address counts as if it
 * had the colon.
 */
export function unsafeScheme(address: string): string | null {
  // Skips leading spaces: a scheme may follow any number of them.
  const start = withoutIgnored(address).slice(0, mostCharacters);
  // Decodes twice, because mail programs decode once more than browsers.
  const decoded = withoutIgnored(decodeEntities(decodeEntities(start))).toLowerCase();
  // Entities of spaces fill all characters that are read, so a scheme may hide behind them.
  if (start.length === mostCharacters && decoded.length < schemeLength) return 'javascript';
  return /^(javascript|vbscript|data)(?::|$)/.exec(decoded)?.[1] ?? null;
}
