const ascii = /^[\0-\x7f]*$/;

/**
 * Folds a text for comparison without case, nearly like full case folding (Unicode 3.13): `ß`
 * equals `ss`, `ς` equals `σ`. Composes letters (NFC). Folding twice changes nothing.
 */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text.toUpperCase().toLowerCase().normalize('NFC');
}
