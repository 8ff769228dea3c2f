// Escaping of values by their place in HTML, and the addresses that no value may make. Pure.

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
 * Escapes for attributes without quotes and for names: there a space or `=` begins another
 * attribute.
 */
export function escapeUnquoted(text: string): string {
  return text.replace(/[^\w.\u0080-\uffff-]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Characters that browsers leave out of the scheme of an address, and invisible characters. */
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

/** Removes the characters that do not count in the scheme of an address. */
export function withoutIgnored(text: string): string {
  return text.replace(ignored, '');
}

/** Decodes the entities that an address may hide in; the last entity may lack the semicolon. */
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
 * Returns the scheme of an address that runs code or holds a document: `javascript`, `vbscript` or
 * `data`; null for other addresses. An address that may get a colon later counts as an address
 * with the colon.
 */
export function unsafeScheme(address: string): string | null {
  // A scheme may come after any number of spaces.
  const start = withoutIgnored(address).slice(0, mostCharacters);
  // Twice, because mail programs decode once more than browsers.
  const decoded = withoutIgnored(decodeEntities(decodeEntities(start))).toLowerCase();
  // Entities of spaces take all of the characters that are read: they hide a scheme.
  if (start.length === mostCharacters && decoded.length < schemeLength) return 'javascript';
  return /^(javascript|vbscript|data)(?::|$)/.exec(decoded)?.[1] ?? null;
}
