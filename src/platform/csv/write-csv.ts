// Writes CSV for other programs (RFC 4180), guarded so that spreadsheets find no formula in it; read-table.ts
// removes the guard.

/**
 * Characters that spreadsheets read as the start of a formula, and the apostrophe, so that the guard can be
 * undone.
 */
const formulaStart = /^[=+\-@\t\r']/;

function csvValue(value: string | null): string {
  const text = value ?? '';
  const guarded = formulaStart.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** Formats one row, with its line end. */
export function csvRow(values: readonly (string | null)[]): string {
  return `${values.map(csvValue).join(',')}\n`;
}
